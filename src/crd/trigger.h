/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_TRIGGER_H
#define CRD_TRIGGER_H

/*
 * One entry of spec.triggers, the same in ScaledObject and ScaledJob (doc/keda.md 1.1). A plain
 * value; decide/validate checks its content.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/json.h"
#include "base/strmap.h"

#define SCALEDOBJECT_TRIGGERS_MAX 1000 /* each is queried at every poll */
/*
 * Parameters ...FromEnv of all triggers: each variable may be in any source of the container's
 * environment.
 */
#define TRIGGER_VARIABLES_MAX 5000

struct trigger {
	char *type;
	char *name;        /* NULL */
	char *metric_type; /* NULL */
	bool use_cached_metrics;
	struct strmap metadata;
	char *auth_name; /* authenticationRef; NULL */
	char *auth_kind; /* NULL: TriggerAuthentication */
};

/*
 * Reads spec.triggers into *out and *count, which are set even on an error, to what could be read
 * before it; the caller owns them (trigger_free_list). ERR_INVALID with the path: a wrong type,
 * more than SCALEDOBJECT_TRIGGERS_MAX entries, too much metadata, too many names of variables.
 */
int trigger_decode_list(const struct json_at *spec, struct trigger **out, size_t *count, struct err *err);
void trigger_free_list(struct trigger *list, size_t count);

#endif
