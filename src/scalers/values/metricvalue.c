/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/values/metricvalue.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/quantity.h"

#define LENGTH_MAX 128 /* longer than any number */

static const struct {
	const char *suffix;
	double factor;
} suffixes[] = {
	{ "", 1 },
	{ "n", 1e-9 },
	{ "u", 1e-6 },
	{ "m", 1e-3 },
	{ "k", 1e3 },
	{ "M", 1e6 },
	{ "G", 1e9 },
	{ "T", 1e12 },
	{ "P", 1e15 },
	{ "E", 1e18 },
	{ "Ki", 0x1p10 },
	{ "Mi", 0x1p20 },
	{ "Gi", 0x1p30 },
	{ "Ti", 0x1p40 },
	{ "Pi", 0x1p50 },
	{ "Ei", 0x1p60 },
};

bool metricvalue_of_text(const char *text, size_t len, double *out)
{
	char plain[LENGTH_MAX + 1];
	struct quantity q;
	char *suffix;
	double number;

	if (len > LENGTH_MAX || memchr(text, '\0', len))
		return false;
	memcpy(plain, text, len);
	plain[len] = '\0';
	/* Used only as a syntax check: its value is in thousandths. */
	if (quantity_parse(plain, &q, NULL))
		return false;
	number = strtod(plain, &suffix);
	for (size_t i = 0; i < MEM_COUNT(suffixes); i++) {
		if (strcmp(suffix, suffixes[i].suffix) != 0)
			continue;
		*out = number * suffixes[i].factor;
		return isfinite(*out);
	}
	return false;
}

bool metricvalue_float_of_text(const char *text, size_t len, double *out)
{
	char plain[LENGTH_MAX + 1];
	char *end;

	if (len == 0 || len > LENGTH_MAX)
		return false;
	memcpy(plain, text, len);
	plain[len] = '\0';
	if (strspn(plain, "0123456789+-.eE") != len)
		return false;
	*out = strtod(plain, &end);
	return *end == '\0' && end > plain && isfinite(*out);
}

int metricvalue_none(const char *got, struct err *err)
{
	return err_set(err, ERR_INVALID, "must point to a numeric value or a string parseable as a Quantity, got %s",
		got);
}

int metricvalue_of_json(const json_t *value, double *out, struct err *err)
{
	if (!value)
		return metricvalue_none("Null: there is nothing", err);
	switch (json_typeof(value)) {
	case JSON_INTEGER:
	case JSON_REAL: *out = json_number_value(value); return 0;
	case JSON_STRING:
		if (metricvalue_of_text(json_string_value(value), json_string_length(value), out))
			return 0;
		return metricvalue_none(METRICVALUE_NO_QUANTITY, err);
	case JSON_TRUE: return metricvalue_none("True", err);
	case JSON_FALSE: return metricvalue_none("False", err);
	case JSON_NULL: return metricvalue_none("Null", err);
	case JSON_ARRAY: return metricvalue_none("JSON: a list", err);
	case JSON_OBJECT: return metricvalue_none("JSON: an object", err);
	}
	return metricvalue_none("nothing that is known", err);
}

int metricvalue_whole_of_json(const json_t *value, double *out, struct err *err)
{
	if (json_is_string(value))
		return err_set(err, ERR_INVALID,
			"must point to a numeric value, got String: a text, which is not read as a whole number");
	if (metricvalue_of_json(value, out, err))
		return -1;
	*out = trunc(*out);
	if (fabs(*out) < 0x1p63)
		return 0;
	return err_set(err, ERR_INVALID, "must point to a whole number of 64 bits, got Number: a larger one");
}

int metricvalue_bad_json(const json_error_t *where, struct err *err)
{
	static const struct {
		enum json_error_code code;
		const char *text;
	} reasons[] = {
		{ json_error_premature_end_of_input, "it ends too early" },
		{ json_error_end_of_input_expected, "there is more text after its end" },
		{ json_error_invalid_utf8, "it is not UTF-8" },
		{ json_error_duplicate_key, "an object has a name twice" },
		{ json_error_numeric_overflow, "a number is too large" },
		{ json_error_stack_overflow, "it is nested too deeply" },
	};
	const char *reason = "it cannot be read";

	for (size_t i = 0; i < MEM_COUNT(reasons); i++)
		if (json_error_code(where) == reasons[i].code)
			reason = reasons[i].text;
	return err_set(err, ERR_INVALID, "the text is not JSON: line %d column %d: %s%s", where->line, where->column,
		reason, json_bare_number(where->text));
}
