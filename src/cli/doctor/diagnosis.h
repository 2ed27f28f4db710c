/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_DIAGNOSIS_H
#define CLI_DOCTOR_DIAGNOSIS_H

/*
 * What `kscaled doctor` found: for each hop of the chain at least one finding, in the order of the
 * chain, and how that is printed. Filled by the judgements, printed by doctor.c. Knows no hop and
 * no cluster.
 */

#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* From fine to bad: a hop is as bad as its worst finding. */
enum diagnosis_status { DIAGNOSIS_OK, DIAGNOSIS_SKIPPED /* not looked at */, DIAGNOSIS_WARNING, DIAGNOSIS_ERROR };

struct diagnosis {
	struct diagnosis_line {
		const char *hop; /* borrowed: a constant */
		enum diagnosis_status status;
		char *message; /* owned, as the next one */
		char *mend;    /* a command, or what to do; NULL: nothing */
		bool follows;  /* it was left out because of another hop */
	} * list;
	size_t count, alloc;
};

/* mend: taken, may be NULL. */
void diagnosis_vadd(struct diagnosis *d, const char *hop, enum diagnosis_status status, char *mend, const char *fmt,
	va_list ap) __attribute__((format(printf, 5, 0)));
/* A hop that is not looked at, because one that it needs is wrong. */
void diagnosis_follows(struct diagnosis *d, const char *hop, const char *need);
/* "and 7 more", as bad as those before it of this hop. mend: taken. */
void diagnosis_more(struct diagnosis *d, const char *hop, size_t count, char *mend);
void diagnosis_done(struct diagnosis *d);

/* Takes away what is fine: the rest is all there is to say. */
void diagnosis_drop_fine(struct diagnosis *d);

/* The worst of a hop, or of all hops when hop is NULL. DIAGNOSIS_OK when there is no finding. */
enum diagnosis_status diagnosis_worst(const struct diagnosis *d, const char *hop);

/*
 * A line for each hop, "ok       service        ..."; below it, indented, what each further finding
 * says, and the command that mends it. What is all there is to say, and needs no command, is one
 * line, too; so is all that only follows from the rest.
 */
void diagnosis_text(const struct diagnosis *d, struct buf *out);

/* [{"hop", "status", "message", "mend"}], mend null where there is none. */
json_t *diagnosis_json(const struct diagnosis *d);

#endif
