/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CHECK_FINDINGS_H
#define CLI_CHECK_FINDINGS_H

/*
 * The problems and warnings of `kscaled check`: counts them, and prints one line for each, sorted
 * by line within an object: `file:line: kind ns/name: field: problem`. Control characters become
 * `?`.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>

#include "cli/documents.h"

struct findings {
	FILE *out;    /* borrowed */
	bool verbose; /* also a line for each object without problems */
	size_t problems, warnings;
	/* Of the current object: */
	const struct document *doc;
	char *title; /* "ScaledObject shop/worker: " */
	struct finding *list;
	size_t count, left_out;
	size_t object_problems;
};

void findings_init(struct findings *f, FILE *out, bool verbose);

/*
 * Begins an object. kind NULL: unknown. name "": none. namespace_ "": cluster-wide. doc is borrowed
 * until findings_end.
 */
void findings_begin(struct findings *f, const struct document *doc, const char *kind, const char *namespace_,
	const char *name);

/*
 * field: a path as base/json.h writes it, which also gives the line; NULL: the whole object. Only
 * the first problem of a field is kept, since several rules may find the same fault.
 */
void findings_problem(struct findings *f, const char *field, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
void findings_warning(struct findings *f, const char *field, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

/* A problem at a line, without a field. */
void findings_problem_at(struct findings *f, size_t line, const char *text);

/*
 * The message of a rule. If a path precedes its first ": ", it is the field; else `otherwise` is.
 * Warnings of fields that have a problem are dropped.
 */
void findings_problem_of(struct findings *f, const char *otherwise, const char *message);
void findings_warning_of(struct findings *f, const char *message);

/* Prints the object's findings. checked: whether the verbose line is "ok" or "not checked". */
void findings_end(struct findings *f, bool checked);

#endif
