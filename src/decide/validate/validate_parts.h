/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_VALIDATE_VALIDATE_PARTS_H
#define DECIDE_VALIDATE_VALIDATE_PARTS_H

/*
 * The rules of decide/validate that have files of their own; everybody else sees
 * validate.h. Each: 0, or -1 and ERR_INVALID.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "crd/scaledobject.h"

/* the numbers, the behavior, that there is a trigger which can fall back */
int validate_fallback(const struct scaledobject *so, struct err *err);
int validate_modifiers(const struct scaledobject *so, struct err *err);
/* behavior scalingModifiers needs a formula */
int validate_modifiers_fallback(const struct scaledobject *so, struct err *err);

/* Shared by both kinds. */
struct validate_bound {
	const char *field;
	int32_t value, least;
};
int validate_bounds(const struct validate_bound *bounds, size_t count, struct err *err); /* INT32_UNSET passes */
/* metadata.name, when it becomes the value of a label (keda-core.md 7.7) */
int validate_label_name(const char *name, struct err *err);

#endif
