/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/graphite/graphitereply.h"

#include <jansson.h>
#include <stdbool.h>

#include "base/json.h"

/* [value or null, time], the newest last */
static int last_value(const json_t *points, double *value, struct err *err)
{
	for (size_t i = json_array_size(points); i > 0; i--) {
		const json_t *one = json_array_get(json_array_get(points, i - 1), 0);

		if (json_is_number(one)) {
			*value = json_number_value(one);
			return 0;
		}
		if (!json_is_null(one))
			return err_set(err, ERR_INVALID, "a point of the series is not a pair of value and time");
	}
	if (json_array_size(points) == 0)
		return 0;
	return err_set(err, ERR_INVALID,
		"the series has no value since queryTime: all %zu points are null; a longer queryTime finds older ones",
		json_array_size(points));
}

static int series(const json_t *root, double *value, struct err *err)
{
	const json_t *points = json_object_get(json_array_get(root, 0), "datapoints");

	if (!json_is_array(root))
		return err_set(err, ERR_INVALID, "the answer is not a list of series: is this Graphite's render API?");
	if (json_array_size(root) == 0)
		return 0;
	if (json_array_size(root) > 1)
		return err_set(err, ERR_INVALID,
			"the query returned multiple series (%zu), and must return one: sumSeries(), maxSeries() and "
			"the like make one of them",
			json_array_size(root));
	if (!json_is_array(points))
		return err_set(err, ERR_INVALID, "the series has no datapoints: is this Graphite's render API?");
	return last_value(points, value, err);
}

/* Graphite writes infinity as 1e9999. */
static int no_json(const json_error_t *where, struct err *err)
{
	if (json_error_code(where) == json_error_numeric_overflow)
		return err_set(err, ERR_INVALID, "a value of the series is infinite");
	if (*json_bare_number(where->text))
		return err_set(err, ERR_INVALID, "the answer is not JSON%s", json_bare_number(where->text));
	return err_set(err, ERR_INVALID, "the answer is not JSON: does serverAddress lead to Graphite's web server?");
}

int graphitereply_read(const char *body, size_t len, double *value, struct err *err)
{
	json_error_t where;
	json_t *root;
	int rc;

	*value = 0;
	if (!json_is_bearable(body, len, err))
		return err_wrap(err, "the answer is too large: use a shorter queryTime");
	root = json_loadb(body, len, 0, &where);
	rc = root ? series(root, value, err) : no_json(&where, err);
	json_decref(root);
	return rc;
}
