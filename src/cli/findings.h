/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_FINDINGS_H
#define CLI_FINDINGS_H

/*
 * What `kscaled check` found, printed one line each, in the order of the lines of an object:
 * `file:line: kind ns/name: field: problem`. Counts, and knows nothing of what it prints; bytes
 * that a terminal might act on become `?`.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "base/err.h"
#include "cli/documents.h"

struct findings {
	FILE *out;    /* borrowed */
	bool verbose; /* a line for each object without problems, too */
	size_t problems, warnings;
	/* Of the object that is being judged: */
	const struct document *doc;
	char *title; /* "ScaledObject shop/worker" */
	struct finding *list;
	size_t count, left_out;
	size_t judged_problems;
};

void findings_init(struct findings *f, FILE *out, bool verbose);

/*
 * `kind` NULL: it is not known what it is. name NULL or "": it has none. namespace_ "": it is in
 * none. All borrowed until findings_end.
 */
void findings_begin(struct findings *f, const struct document *doc, const char *kind, const char *namespace_,
	const char *name);

/*
 * field: a path as base/json.h writes it, for the line too; NULL: the object as a whole. A second
 * problem of the same field is not told: one rule said it in its words already.
 */
void findings_problem(struct findings *f, const char *field, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void findings_warning(struct findings *f, const char *field, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A line that is known better than by its field. */
void findings_problem_at(struct findings *f, size_t line, const char *field, const char *text);

/* A rule's message: what stands before its first ": " is the field when it is a path. */
void findings_problem_of(struct findings *f, const char *otherwise /* the field when it is none */,
	const struct err *err);
/* not of a field that has a problem: that one comes first */
void findings_warning_of(struct findings *f, const char *message);

/* Prints. `judged`: for the verbose line. */
void findings_end(struct findings *f, bool judged);

#endif
