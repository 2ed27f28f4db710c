/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/params.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char *const source_names[] = {
	[PARAM_METADATA] = "triggerMetadata",
	[PARAM_AUTH] = "authParams",
	[PARAM_ENV] = "resolvedEnv",
};

/* A copy without white space at both ends; NULL when nothing is left: an empty value counts as absent. */
static char *trimmed(const char *text)
{
	size_t len;

	if (!text)
		return NULL;
	while (isspace((unsigned char)*text))
		text++;
	len = strlen(text);
	while (len > 0 && isspace((unsigned char)text[len - 1]))
		len--;
	return len > 0 ? mem_dupn(text, len) : NULL;
}

/* `<name>FromEnv` names a variable. One that is named but cannot be had is an error, never an empty value. */
static int from_env(const struct scaler_params *params, const char *name, char **out, struct err *err)
{
	MEM_AUTO char *key = mem_printf("%sFromEnv", name);
	MEM_AUTO char *variable = trimmed(strmap_get(params->metadata, key));
	const char *why;

	if (!variable)
		return 0;
	*out = params->env ? trimmed(strmap_get(params->env, variable)) : NULL;
	if (*out)
		return 0;
	why = params->unresolved ? strmap_get(params->unresolved, variable) : NULL;
	if (why)
		return err_set(err, ERR_INVALID, "parameter \"%s\": environment variable %s of the target's container %s", key, variable, why);
	return err_set(err, ERR_INVALID, "parameter \"%s\": the target's container has no environment variable %s with a value", key, variable);
}

static int from_source(const struct scaler_params *params, enum param_source source, const char *name, char **out, struct err *err)
{
	switch (source) {
	case PARAM_METADATA:
		*out = trimmed(strmap_get(params->metadata, name));
		return 0;
	case PARAM_AUTH:
		*out = params->auth ? trimmed(strmap_get(params->auth, name)) : NULL;
		return 0;
	case PARAM_ENV:
		return from_env(params, name, out, err);
	}
	return 0;
}

static int missing(const struct param *p, struct err *err)
{
	char sources[64] = "";

	for (size_t i = 0; i < sizeof(p->sources) / sizeof(p->sources[0]) && p->sources[i]; i++) {
		if (i > 0)
			strncat(sources, " ", sizeof(sources) - strlen(sources) - 1);
		strncat(sources, source_names[p->sources[i]], sizeof(sources) - strlen(sources) - 1);
	}
	return err_set(err, ERR_INVALID, "missing required parameter \"%s\" in [%s]", p->names[0], sources);
}

/* The text (owned by the caller; NULL when absent) and where it came from. */
static int find(const struct scaler_params *params, const struct param *p, char **out, enum param_source *source, struct err *err)
{
	*out = NULL;
	for (size_t i = 0; i < sizeof(p->sources) / sizeof(p->sources[0]) && p->sources[i]; i++) {
		for (size_t j = 0; j < sizeof(p->names) / sizeof(p->names[0]) && p->names[j]; j++) {
			if (from_source(params, p->sources[i], p->names[j], out, err))
				return -1;
			if (*out) {
				*source = p->sources[i];
				return 0;
			}
		}
	}
	return p->required ? missing(p, err) : 0;
}

int param_text(const struct scaler_params *params, const struct param *p, char **out, struct err *err)
{
	enum param_source source;

	return find(params, p, out, &source, err);
}

/* Only what stands in the object itself may be shown: the rest may be a secret that was put into the wrong place. */
static int wrong(const struct param *p, enum param_source source, const char *text, const char *must, struct err *err)
{
	if (source == PARAM_METADATA)
		return err_set(err, ERR_INVALID, "unable to set param \"%s\" value \"%s\": must be %s", p->names[0], text, must);
	return err_set(err, ERR_INVALID, "unable to set param \"%s\" value from %s (not shown): must be %s", p->names[0], source_names[source], must);
}

/* As JSON writes whole numbers: no plus sign, no leading zeros, no fraction (keda-scalers.md C.2). */
static bool json_integer(const char *text)
{
	if (*text == '-')
		text++;
	if (text[0] == '0')
		return text[1] == '\0';
	if (!isdigit((unsigned char)*text))
		return false;
	while (isdigit((unsigned char)*text))
		text++;
	return *text == '\0';
}

int param_int64(const struct scaler_params *params, const struct param *p, int64_t *out, struct err *err)
{
	MEM_AUTO char *text = NULL;
	enum param_source source;
	long long value;

	if (find(params, p, &text, &source, err))
		return -1;
	if (!text)
		return 0;
	errno = 0;
	value = json_integer(text) ? strtoll(text, NULL, 10) : 0;
	if (!json_integer(text) || errno == ERANGE)
		return wrong(p, source, text, "a whole number", err);
	*out = value;
	return 0;
}

int param_bool(const struct scaler_params *params, const struct param *p, bool *out, struct err *err)
{
	static const char *const yes[] = { "1", "t", "T", "TRUE", "true", "True" };
	static const char *const no[] = { "0", "f", "F", "FALSE", "false", "False" };
	MEM_AUTO char *text = NULL;
	enum param_source source;

	if (find(params, p, &text, &source, err))
		return -1;
	if (!text)
		return 0;
	for (size_t i = 0; i < sizeof(yes) / sizeof(yes[0]); i++) {
		if (strcmp(text, yes[i]) == 0 || strcmp(text, no[i]) == 0) {
			*out = strcmp(text, yes[i]) == 0;
			return 0;
		}
	}
	return wrong(p, source, text, "true or false", err);
}

int param_metric_type(const struct scaler_params *params, enum metric_target_type *out, struct err *err)
{
	const char *text = params->metric_type;

	if (!text || !*text || strcmp(text, "AverageValue") == 0)
		*out = METRIC_AVERAGE_VALUE;
	else if (strcmp(text, "Value") == 0)
		*out = METRIC_VALUE;
	else if (strcmp(text, "Utilization") == 0)
		return err_set(err, ERR_INVALID, "'Utilization' metric type is unsupported for external metrics, allowed values are 'Value' or 'AverageValue'");
	else
		return err_set(err, ERR_INVALID, "metricType \"%s\" is unknown, allowed values are 'Value' or 'AverageValue'", text);
	return 0;
}

char *param_normalise(char *text)
{
	for (char *c = text; *c; c++)
		if (strchr("/.:%()", *c))
			*c = '-';
	return text;
}
