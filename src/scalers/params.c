/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/params.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/buf.h"
#include "base/duration.h"
#include "base/mem.h"
#include "base/slips.h"

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

/*
 * `<name>FromEnv` names a variable. One that is there but could not be read is an error. One that is not there, or is empty, leaves the word to the sources behind it, as in KEDA; when they have
 * nothing either, *absent is the error: never an empty value in silence.
 */
static int from_env(const struct scaler_params *params, const char *name, char **out, struct err *absent, struct err *err)
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
	err_set(absent, ERR_INVALID, "parameter \"%s\": the target's container has no environment variable %s with a value", key, variable);
	return 0;
}

static int from_source(const struct scaler_params *params, enum param_source source, const char *name, char **out, struct err *absent, struct err *err)
{
	switch (source) {
	case PARAM_METADATA:
		*out = trimmed(strmap_get(params->metadata, name));
		return 0;
	case PARAM_AUTH:
		*out = params->auth ? trimmed(strmap_get(params->auth, name)) : NULL;
		return 0;
	case PARAM_ENV:
		return from_env(params, name, out, absent, err);
	}
	return 0;
}

/* How far a key is from a name that may be meant by it; SLIPS_FAR when it is another. */
static size_t nearness(const char *name, const char *key)
{
	size_t slips = slips_between(name, key), may = strlen(name) < 8 ? 1 : 2;

	if (strcasecmp(name, key) == 0)
		return 0;
	return slips <= may ? slips : SLIPS_FAR;
}

/* A key of the metadata that may be meant to be this parameter, of which there is nothing; NULL. Those that somebody asked for are what they say. */
static const char *mistyped(const struct scaler_params *params, const struct param *p)
{
	size_t least = SLIPS_FAR;
	const char *found = NULL;

	for (size_t i = 0; params->metadata && i < params->metadata->count; i++) {
		const char *key = params->metadata->pairs[i].key;

		if (params->known && strmap_get(params->known, key))
			continue;
		for (size_t j = 0; j < sizeof(p->names) / sizeof(p->names[0]) && p->names[j]; j++) {
			size_t slips = nearness(p->names[j], key);

			if (slips >= least)
				continue;
			least = slips;
			found = key;
		}
	}
	return found;
}

static int missing(const struct scaler_params *params, const struct param *p, struct err *err)
{
	char sources[64] = "";
	const char *key = mistyped(params, p);

	for (size_t i = 0; i < sizeof(p->sources) / sizeof(p->sources[0]) && p->sources[i]; i++) {
		if (i > 0)
			strncat(sources, " ", sizeof(sources) - strlen(sources) - 1);
		strncat(sources, source_names[p->sources[i]], sizeof(sources) - strlen(sources) - 1);
	}
	err_set(err, ERR_INVALID, "missing required parameter \"%s\" in [%s]", p->names[0], sources);
	if (key)
		err_set(err, ERR_INVALID, "missing required parameter \"%s\" in [%s] (is it \"%s\" in the metadata, mistyped?)", p->names[0], sources, key);
	return -1;
}

/* Also the sources that a lookup does not come to any more: their keys are known all the same. */
static void know(const struct scaler_params *params, const struct param *p)
{
	for (size_t i = 0; params->known && i < sizeof(p->sources) / sizeof(p->sources[0]) && p->sources[i]; i++) {
		for (size_t j = 0; j < sizeof(p->names) / sizeof(p->names[0]) && p->names[j]; j++) {
			MEM_AUTO char *from_env = p->sources[i] == PARAM_ENV ? mem_printf("%sFromEnv", p->names[j]) : NULL;

			if (from_env)
				param_known(params, from_env);
			else if (p->sources[i] == PARAM_METADATA)
				param_known(params, p->names[j]);
		}
	}
}

/* The text (owned by the caller; NULL when absent) and where it came from. */
static int find(const struct scaler_params *params, const struct param *p, char **out, enum param_source *source, struct err *err)
{
	struct err absent = { 0 };

	*out = NULL;
	know(params, p);
	for (size_t i = 0; i < sizeof(p->sources) / sizeof(p->sources[0]) && p->sources[i]; i++) {
		for (size_t j = 0; j < sizeof(p->names) / sizeof(p->names[0]) && p->names[j]; j++) {
			if (from_source(params, p->sources[i], p->names[j], out, &absent, err))
				return -1;
			if (*out) {
				*source = p->sources[i];
				return 0;
			}
		}
	}
	if (absent.kind != ERR_NONE)
		return err_set(err, absent.kind, "%s", absent.msg);
	return p->required ? missing(params, p, err) : 0;
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

/* As JSON writes numbers: digits on both sides of a point, an exponent; nothing that is not finite. */
static bool json_number(const char *text)
{
	const char *c = text + (*text == '-');

	if (*c == '0')
		c++;
	else if (isdigit((unsigned char)*c))
		c += strspn(c, "0123456789");
	else
		return false;
	if (*c == '.') {
		size_t digits = strspn(c + 1, "0123456789");

		if (digits == 0)
			return false;
		c += 1 + digits;
	}
	if (*c == 'e' || *c == 'E') {
		size_t sign = c[1] == '+' || c[1] == '-', digits = strspn(c + 1 + sign, "0123456789");

		if (digits == 0)
			return false;
		c += 1 + sign + digits;
	}
	return *c == '\0';
}

int param_double(const struct scaler_params *params, const struct param *p, double *out, struct err *err)
{
	MEM_AUTO char *text = NULL;
	enum param_source source;
	double value;

	if (find(params, p, &text, &source, err))
		return -1;
	if (!text)
		return 0;
	value = json_number(text) ? strtod(text, NULL) : HUGE_VAL;
	if (!isfinite(value))
		return wrong(p, source, text, "a number", err);
	*out = value;
	return 0;
}

int param_duration(const struct scaler_params *params, const struct param *p, int64_t *out_ms, struct err *err)
{
	MEM_AUTO char *text = NULL;
	enum param_source source;
	long long number;

	if (find(params, p, &text, &source, err))
		return -1;
	if (!text)
		return 0;
	errno = 0;
	number = json_integer(text) ? strtoll(text, NULL, 10) : -1;
	if (json_integer(text) && number >= 0 && errno != ERANGE) {
		*out_ms = number;
		return 0;
	}
	if (json_integer(text) || duration_parse(text, out_ms, NULL))
		return wrong(p, source, text, "a duration such as 30s, or a whole number of milliseconds, not negative", err);
	return 0;
}

int param_choice(const struct scaler_params *params, const struct param *p, const char *const *words, size_t *out, struct err *err)
{
	MEM_AUTO char *text = NULL;
	struct buf must = BUF_INIT(512);
	enum param_source source;

	if (find(params, p, &text, &source, err))
		return -1;
	buf_puts(&must, "one of");
	for (size_t i = 0; text && words[i]; i++) {
		if (strcmp(text, words[i]) == 0) {
			*out = i;
			buf_done(&must);
			return 0;
		}
		buf_printf(&must, "%s %s", i > 0 ? "," : "", words[i]);
	}
	if (text)
		wrong(p, source, text, buf_text(&must), err);
	buf_done(&must);
	return text ? -1 : 0;
}

int param_list(const struct scaler_params *params, const struct param *p, char separator, struct param_list *out, struct err *err)
{
	MEM_AUTO char *text = NULL;
	char *rest, *piece;
	enum param_source source;

	memset(out, 0, sizeof(*out));
	if (find(params, p, &text, &source, err))
		return -1;
	rest = text;
	while (rest && (piece = strsep(&rest, (char[]){ separator, '\0' })) != NULL) {
		char *item = trimmed(piece);

		out->items = mem_resize(out->items, out->count + 1, sizeof(*out->items));
		out->items[out->count++] = item ? item : mem_dup("");
	}
	return 0;
}

void param_list_done(struct param_list *list)
{
	for (size_t i = 0; i < list->count; i++)
		mem_free_secret(list->items[i]);
	free(list->items);
	memset(list, 0, sizeof(*list));
}

int param_map(const struct scaler_params *params, const struct param *p, struct strmap *out, struct err *err)
{
	MEM_AUTO char *text = NULL;
	enum param_source source;
	char *rest, *piece;

	if (find(params, p, &text, &source, err))
		return -1;
	rest = text;
	while (rest && (piece = strsep(&rest, ",")) != NULL) {
		char *equals = strchr(piece, '=');
		MEM_AUTO char *key = equals ? mem_dupn(piece, (size_t)(equals - piece)) : NULL, *name = trimmed(key), *value = equals ? trimmed(equals + 1) : NULL;

		if (!name || strchr(equals + 1, '='))
			return wrong(p, source, piece, "name=value pieces with exactly one '=' each, separated by commas", err);
		strmap_set(out, name, value ? value : "");
	}
	return 0;
}

int param_target(const struct scaler_params *params, const struct param *p, struct quantity *out, struct err *err)
{
	double value = -1;
	MEM_AUTO char *text = NULL;
	enum param_source source = PARAM_METADATA;

	if (find(params, p, &text, &source, err) || param_double(params, p, &value, err))
		return -1;
	if (!text && !params->formula_source)
		return err_set(err, ERR_INVALID, "no %s given", p->names[0]);
	*out = quantity_from_double(text ? value : 0);
	if (out->milli > 0 || params->formula_source)
		return 0;
	if (source != PARAM_METADATA)
		return err_set(err, ERR_INVALID, "parameter \"%s\" value from %s (not shown) must be greater than 0 (at least 0.001)", p->names[0], source_names[source]);
	return err_set(err, ERR_INVALID, "parameter \"%s\" value \"%s\" must be greater than 0 (at least 0.001)", p->names[0], text);
}

void param_known(const struct scaler_params *params, const char *name)
{
	if (params->known)
		strmap_set(params->known, name, "");
}

/* The known name that is nearest to what was written; NULL when none is near. */
static const char *meant(const struct strmap *known, const char *key)
{
	size_t least = SLIPS_FAR;
	const char *found = NULL;

	for (size_t i = 0; i < known->count; i++) {
		size_t slips = nearness(known->pairs[i].key, key);

		if (slips < least) {
			least = slips;
			found = known->pairs[i].key;
		}
	}
	return found;
}

/* What keys of earlier versions of KEDA (keda-scalers.md A.4) have become; NULL for others. */
static const char *removed(const char *key)
{
	static const struct {
		const char *key, *since;
	} keys[] = {
		{ "metricName", "KEDA dropped it in 2.12: the metric is named by the trigger's place" },
		{ "cortexOrgID", "KEDA dropped it in 2.12: use customHeaders: X-Scope-OrgID=..." },
		{ "cortexOrgId", "KEDA dropped it in 2.12: use customHeaders: X-Scope-OrgID=..." },
	};

	for (size_t i = 0; i < sizeof(keys) / sizeof(keys[0]); i++)
		if (strcmp(keys[i].key, key) == 0)
			return keys[i].since;
	return NULL;
}

char *param_unknown(const struct scaler_params *params)
{
	struct buf out = BUF_INIT(1024);

	for (size_t i = 0; params->known && i < params->metadata->count; i++) {
		const char *key = params->metadata->pairs[i].key, *near;

		if (strmap_get(params->known, key))
			continue;
		near = meant(params->known, key);
		buf_printf(&out, "%s\"%s\"", out.len > 0 ? ", " : "", key);
		if (removed(key))
			buf_printf(&out, " (%s)", removed(key));
		else if (near)
			buf_printf(&out, " (did you mean \"%s\"?)", near);
	}
	return out.len > 0 ? buf_take(&out) : NULL;
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
