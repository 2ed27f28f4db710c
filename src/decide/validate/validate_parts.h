/* SPDX-License-Identifier: Apache-2.0 */
#ifndef DECIDE_VALIDATE_VALIDATE_PARTS_H
#define DECIDE_VALIDATE_VALIDATE_PARTS_H

/* Shared by the files of decide/validate; all others include validate.h. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "crd/scaled.h"

/* One rule: 0, or -1 and ERR_INVALID. */
struct validate_check {
	int (*check)(const struct scaled *of, struct err *err); /* NULL ends a table */
	/* the label of the webhook's metric, KEDA's if it has one (doc/keda.md 7.2) */
	const char *reason;
	/* what KEDA's reconciler puts before the cause (doc/keda.md 2.1, 4.1); NULL: nothing */
	const char *step;
	enum validate_holds {
		VALIDATE_ALWAYS,
		/*
		 * KEDA's webhook admits the object, but its reconciler refuses it; so does kscaled,
		 * with a warning (validate_job_warnings)
		 */
		VALIDATE_RECONCILE,
		/*
		 * KEDA's webhook refuses the object, but its reconciler works with it: stored
		 * objects go on, with a warning (validate_only_new)
		 */
		VALIDATE_NEW,
	} holds;
};
/* In the order of evaluation: the first fault is reported. */
extern const struct validate_check validate_object_checks[], validate_job_checks[];

/* For both kinds. */
int validate_decoded(const struct scaled *of, struct err *err); /* spec_err */
/* spec.triggers without their parameters: metricType, authenticationRef, unique names */
int validate_triggers(const struct scaled *of, struct err *err);
int validate_name(const struct scaled *of, struct err *err); /* it becomes the value of a label (doc/keda.md 7.2) */
#define VALIDATE_LABEL_MAX 63

/* For a ScaledObject. */
int validate_fallback(const struct scaled *of, struct err *err);
int validate_fallback_effect(const struct scaled *of, struct err *err); /* there is a trigger that uses it */
int validate_modifiers(const struct scaled *of, struct err *err);
int validate_modifiers_fallback(const struct scaled *of,
	struct err *err); /* behavior scalingModifiers needs a formula */

struct validate_bound {
	const char *field;
	int32_t value, least;
};
int validate_bounds(const struct validate_bound *bounds, size_t count, struct err *err); /* INT32_UNSET passes */

#endif
