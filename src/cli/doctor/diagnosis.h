/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_DIAGNOSIS_H
#define CLI_DOCTOR_DIAGNOSIS_H

/*
 * The findings of `kscaled doctor`, at least one per hop, in the order of the chain, and their
 * output as text and JSON. Knows neither hops nor the cluster.
 */

#include <jansson.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"

/* From best to worst: a hop is as bad as its worst finding. */
enum diagnosis_status { DIAGNOSIS_OK, DIAGNOSIS_SKIPPED /* not checked */, DIAGNOSIS_WARNING, DIAGNOSIS_ERROR };

struct diagnosis {
	struct diagnosis_line {
		const char *hop; /* borrowed: a constant */
		enum diagnosis_status status;
		char *message;    /* owned, as the next one */
		char *mend;       /* how to fix it: a command or a sentence; NULL: unknown */
		const char *need; /* the failed hop because of which it was skipped; NULL; borrowed */
	} * list;
	size_t count, alloc;
};

/* mend: taken, may be NULL. */
void diagnosis_vadd(struct diagnosis *d, const char *hop, enum diagnosis_status status, char *mend, const char *fmt,
	va_list ap) __attribute__((format(printf, 5, 0)));
/* Skips a hop because one that it needs has failed. */
void diagnosis_follows(struct diagnosis *d, const char *hop, const char *need);
/* "and 7 more", as bad as the hop's worst so far. mend: taken. */
void diagnosis_more(struct diagnosis *d, const char *hop, size_t count, char *mend);
void diagnosis_done(struct diagnosis *d);

/* Removes all but warnings and errors. */
void diagnosis_drop_fine(struct diagnosis *d);

/* The failed hop behind a hop's failure: itself, or an earlier one; NULL: it did not fail. */
const char *diagnosis_cause(const struct diagnosis *d, const char *hop);

/* The worst status of a hop; of all if hop is NULL. DIAGNOSIS_OK without findings. */
enum diagnosis_status diagnosis_worst(const struct diagnosis *d, const char *hop);

/*
 * One line per hop, "ok service ..."; indented below it each further finding and its fix. A single
 * finding without a fix stays on the hop's line. The hops skipped because of others share the last
 * line.
 */
void diagnosis_text(const struct diagnosis *d, struct buf *out);

/* [{"hop", "status", "message", "mend"}], mend null where there is none. */
json_t *diagnosis_json(const struct diagnosis *d);

#endif
