/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_SCALEDJOB_PARTS_H
#define CRD_SCALEDJOB_PARTS_H

/* Decodes the spec of a ScaledJob; only for scaledjob.c. */

#include "crd/scaledjob.h"

/*
 * Sets all of *out. Reads what can be read even if something else is wrong; *err gets the first
 * fault and is unchanged without one.
 */
void scaledjob_spec_decode(const struct json_at *at, struct scaledjob_spec *out, struct err *err);
void scaledjob_spec_done(struct scaledjob_spec *s);

#endif
