/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_SCALEDOBJECT_PARTS_H
#define CRD_SCALEDOBJECT_PARTS_H

/*
 * The two halves of a ScaledObject's decoder; only for scaledobject.c, scaledjob.c (both kinds
 * share the status) and their tests.
 */

#include "crd/scaledobject.h"

/*
 * Sets all of *out. Reads what can be read even if something else is wrong; *err gets the first
 * fault and is unchanged without one.
 */
void scaledobject_spec_decode(const struct json_at *at, struct scaledobject_spec *out, struct err *err);
void scaledobject_spec_done(struct scaledobject_spec *s);

/* Sets all of *out. kscaled writes the status: a field that cannot be read counts as absent. */
void scaledobject_status_decode(const struct json_at *at, struct scaledobject_status *out);

#endif
