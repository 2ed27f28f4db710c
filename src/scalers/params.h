/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_PARAMS_H
#define SCALERS_PARAMS_H

/*
 * Reading one parameter of a trigger as KEDA does (keda-scalers.md C.2): an ordered list of sources, per source each alias in order; values are trimmed and an empty one counts as
 * absent; `<name>FromEnv` in the metadata names a variable of the target's container.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "scalers/scaler.h"

enum param_source { PARAM_METADATA = 1, PARAM_AUTH, PARAM_ENV };

struct param {
	const char *names[4];            /* aliases, the first is the one in messages; NULL-terminated */
	enum param_source sources[4];    /* order of look-up; 0-terminated */
	bool required;
};

/* The text into *out (a copy, caller owns; NULL when absent and not required). ERR_INVALID: missing although required, or named by FromEnv but not there (with the reason). */
int param_text(const struct scaler_params *params, const struct param *p, char **out, struct err *err);

/* Typed: *out keeps its default when absent. Numbers as JSON writes them, booleans as Go's ParseBool. Errors name the parameter, and the value when it stands in the metadata: others may be secrets. */
int param_int64(const struct scaler_params *params, const struct param *p, int64_t *out, struct err *err);
int param_bool(const struct scaler_params *params, const struct param *p, bool *out, struct err *err);

/* metricType: empty is AverageValue; Utilization and unknown words are refused for external metrics (keda-scalers.md C.7). */
int param_metric_type(const struct scaler_params *params, enum metric_target_type *out, struct err *err);

/* KEDA's normalisation of metric names: each of / . : % ( ) becomes '-'. In place; returns text. */
char *param_normalise(char *text);

#endif
