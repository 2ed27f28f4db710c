/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/cluster/keynumber.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "scalers/params.h"
#include "scalers/values/leadingnumber.h"
#include "scalers/values/metricvalue.h"
#include "scalers/values/yamlpath.h"

#define LOCATION_SHOWN 120 /* bytes in messages */

const char *const keynumber_formats[] = {
	[KEYNUMBER_NUMBER] = "number",
	[KEYNUMBER_JSON] = "json",
	[KEYNUMBER_YAML] = "yaml",
	NULL,
};
const char *const keynumber_types[] = {
	[KEYNUMBER_FLOAT64] = "float64",
	[KEYNUMBER_INT64] = "int64",
	[KEYNUMBER_QUANTITY] = "quantity",
	NULL,
};

/* ---- Building ---- */

static int compile(struct keynumber *k, struct err *err)
{
	if (k->format == KEYNUMBER_YAML)
		return dotpath_read(k->location, &k->yaml, err);
	k->json = jsonpath_compile(k->location, err);
	return k->json ? 0 : -1;
}

int keynumber_init(struct keynumber *k, enum keynumber_format format, enum keynumber_type type, const char *location,
	struct err *err)
{
	*k = (struct keynumber){ .format = format, .type = type };
	if (format == KEYNUMBER_NUMBER && location)
		return params_wrong(err, "valueLocation", "is only supported with json or yaml format");
	if (format != KEYNUMBER_NUMBER && !location)
		return params_wrong(err, "valueLocation", "is required for %s format", keynumber_formats[format]);
	k->location = mem_dup(location);
	if (location && compile(k, err))
		return err_wrap(err, "parameter \"valueLocation\" value \"%.*s\", for format %s", LOCATION_SHOWN,
			location, keynumber_formats[format]);
	return 0;
}

void keynumber_copy(struct keynumber *to, const struct keynumber *from)
{
	keynumber_init(to, from->format, from->type, from->location, NULL);
}

void keynumber_done(struct keynumber *k)
{
	free(k->location);
	jsonpath_free(k->json);
	dotpath_done(&k->yaml);
	*k = (struct keynumber){ 0 };
}

/* ---- Reading ---- */

static int no_number(struct err *err)
{
	return err_set(err, ERR_INVALID, "the text does not begin with a number like 12 or 0.5");
}

static int read_quantity(const char *text, size_t len, double *out, struct err *err)
{
	static const char space[] = " \t\r\n";

	while (len > 0 && memchr(space, *text, sizeof(space) - 1)) {
		text++;
		len--;
	}
	while (len > 0 && memchr(space, text[len - 1], sizeof(space) - 1))
		len--;
	if (metricvalue_of_text(text, len, out))
		return 0;
	return err_set(err, ERR_INVALID, "the text is not a quantity like 5, 1.5, 100m or 2Gi");
}

static int read_plain(enum keynumber_type type, const char *text, size_t len, double *out, struct err *err)
{
	switch (type) {
	case KEYNUMBER_FLOAT64: return leadingnumber_decimal(text, len, out) ? 0 : no_number(err);
	case KEYNUMBER_INT64: return leadingnumber_whole(text, len, out) ? 0 : no_number(err);
	case KEYNUMBER_QUANTITY: return read_quantity(text, len, out, err);
	}
	return -1;
}

/* As in KEDA: of a YAML string, the number it begins with; JSON strings are quantities. */
static int leading_of_yaml(const json_t *value, double *out, struct err *err)
{
	if (!json_is_string(value))
		return metricvalue_of_json(value, out, err);
	if (leadingnumber_decimal(json_string_value(value), json_string_length(value), out))
		return 0;
	return metricvalue_none("String: a text that does not begin with a number", err);
}

static int read_at_location(const struct keynumber *k, const char *text, size_t len, double *out, struct err *err)
{
	bool quantity = k->type == KEYNUMBER_QUANTITY;

	if (k->format == KEYNUMBER_YAML)
		return yamlpath_read(&k->yaml, text, len, quantity ? metricvalue_of_json : leading_of_yaml, out, err);
	return jsonpath_read(k->json, text, len,
		k->type == KEYNUMBER_INT64 ? metricvalue_whole_of_json : metricvalue_of_json, out, err);
}

int keynumber_read(const struct keynumber *k, const char *text, size_t len, double *out, struct err *err)
{
	if (k->format == KEYNUMBER_NUMBER)
		return read_plain(k->type, text, len, out, err);
	if (read_at_location(k, text, len, out, err))
		return err_wrap(err, "valueLocation \"%.*s\"", LOCATION_SHOWN, k->location);
	return 0;
}
