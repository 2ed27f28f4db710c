/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_SCALEDJOB_PARTS_H
#define CRD_SCALEDJOB_PARTS_H

/* The spec's half of a ScaledJob's decoder, in its own file; only scaledjob.c needs it. */

#include "crd/scaledjob.h"

/*
 * Sets all of *out. What can be read is read even when something else is wrong; *err gets the first
 * fault and stays as it is when there is none.
 */
void scaledjob_spec_decode(const struct json_at *at, struct scaledjob_spec *out, struct err *err);
void scaledjob_spec_done(struct scaledjob_spec *s);

#endif
