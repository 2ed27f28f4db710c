/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_SCALEDOBJECT_PARTS_H
#define CRD_SCALEDOBJECT_PARTS_H

/*
 * The two halves of a ScaledObject's decoder, each in its own file; only scaledobject.c,
 * scaledjob.c (the status, which is one for both kinds) and their tests need them.
 */

#include "crd/scaledobject.h"

/*
 * Sets all of *out. What can be read is read even when something else is wrong; *err gets the first
 * fault and stays as it is when there is none.
 */
void scaledobject_spec_decode(const struct json_at *at, struct scaledobject_spec *out, struct err *err);
void scaledobject_spec_done(struct scaledobject_spec *s);

/*
 * Sets all of *out. The status is ours to write: a field of it that cannot be read counts as
 * absent.
 */
void scaledobject_status_decode(const struct json_at *at, struct scaledobject_status *out);

#endif
