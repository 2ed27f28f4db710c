/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_LEASE_H
#define CRD_LEASE_H

/* Decodes and encodes a coordination.k8s.io/v1 Lease. */

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"

struct lease { /* a value; owns its strings */
	char *resource_version;
	char *holder; /* "" if no one holds it */
	int64_t duration_s;
	int64_t acquired_unix_ms, renewed_unix_ms; /* 0 when absent */
	int64_t transitions;
};
/* *out: the caller's, for lease_done; empty on an error. ERR_INVALID with the path. */
int lease_decode(const json_t *object, struct lease *out, struct err *err);
void lease_done(struct lease *l);
/* The object to create (resource_version NULL) or to update. The caller owns the text. */
char *lease_encode(const char *namespace_, const char *name, const struct lease *l);

#endif
