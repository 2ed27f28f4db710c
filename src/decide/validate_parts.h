/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_VALIDATE_PARTS_H
#define DECIDE_VALIDATE_PARTS_H

/* The rules of decide/validate that have files of their own; everybody else sees validate.h. Each: 0, or -1 and ERR_INVALID. */

#include <stdbool.h>

#include "base/err.h"
#include "crd/scaledobject.h"

int validate_fallback(const struct scaledobject *so, struct err *err);           /* the numbers, the behavior, that there is a trigger which can fall back */
int validate_modifiers(const struct scaledobject *so, struct err *err);
int validate_modifiers_fallback(const struct scaledobject *so, struct err *err); /* behavior scalingModifiers needs a formula */

bool validate_is_resource_type(const char *type); /* of trigger: cpu, memory: the HPA controller reads it by itself */

#endif
