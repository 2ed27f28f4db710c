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
#include "base/quantity.h"
#include "scalers/scaler.h"

enum param_source { PARAM_METADATA = 1, PARAM_AUTH, PARAM_ENV };

struct param {
	const char *names[4];            /* aliases, the first is the one in messages; NULL-terminated */
	enum param_source sources[4];    /* order of look-up; 0-terminated */
	bool required;
};

/* The text into *out (a copy, caller owns; NULL when absent and not required). ERR_INVALID: missing although required; named by FromEnv but neither there nor in a source behind it; or there but not to be read (with the reason). */
int param_text(const struct scaler_params *params, const struct param *p, char **out, struct err *err);

/* Typed: *out keeps its default when absent. Numbers as JSON writes them, booleans as Go's ParseBool. Errors name the parameter, and the value when it stands in the metadata: others may be secrets. */
int param_int64(const struct scaler_params *params, const struct param *p, int64_t *out, struct err *err);
int param_double(const struct scaler_params *params, const struct param *p, double *out, struct err *err);
int param_bool(const struct scaler_params *params, const struct param *p, bool *out, struct err *err);
/* A Go duration ("30s") or a whole number of milliseconds; not negative. In milliseconds. */
int param_duration(const struct scaler_params *params, const struct param *p, int64_t *out_ms, struct err *err);
/* One of words (NULL-terminated), by its index. */
int param_choice(const struct scaler_params *params, const struct param *p, const char *const *words, size_t *out, struct err *err);

/* Texts separated by a character, each trimmed; empty ones are kept (a list of one empty piece cannot be: an empty value is absent). items NULL when absent. */
struct param_list {
	char **items; /* owned */
	size_t count;
};
int param_list(const struct scaler_params *params, const struct param *p, char separator, struct param_list *out, struct err *err);
void param_list_done(struct param_list *list);

/* "k=v,k=v": exactly one '=' each, a later key wins. Into an empty map. */
int param_map(const struct scaler_params *params, const struct param *p, struct strmap *out, struct err *err);

/*
 * The target of a metric as a float threshold: in thousandths. Without one: "no <name> given". What is not above 0, and what rounds to 0, is refused here: KEDA lets some of it through and the API server then
 * refuses the whole HPA. A formula source needs none: *out is 0 then, as for 0 and for what is below.
 */
int param_target(const struct scaler_params *params, const struct param *p, struct quantity *out, struct err *err);

/*
 * Errors about a required parameter that is missing, and what is said of unknown keys, name the parameter that a mistyped key is near to: upper and lower case are alike, and one letter in four may be wrong, at most two. Keys that KEDA
 * once had are named as that.
 */

/* A key of the metadata that the type has, though this build did not look at it: keeps it from being called unknown. */
void param_known(const struct scaler_params *params, const char *name);
/* For people, caller owns: keys of the metadata that nobody asked for, with what may have been meant; NULL when there are none. */
char *param_unknown(const struct scaler_params *params);

/* metricType: empty is AverageValue; Utilization and unknown words are refused for external metrics (keda-scalers.md C.7). */
int param_metric_type(const struct scaler_params *params, enum metric_target_type *out, struct err *err);

/* KEDA's normalisation of metric names: each of / . : % ( ) becomes '-'. In place; returns text. */
char *param_normalise(char *text);

#endif
