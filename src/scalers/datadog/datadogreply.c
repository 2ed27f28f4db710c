/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/datadog/datadogreply.h"

#include <math.h>
#include <stdbool.h>

#include "base/json.h"
#include "base/quantity.h"
#include "base/text.h"

static enum datadogreply none(struct err *err)
{
	err_set(err, ERR_MISSING, "no Datadog metrics returned for the given time window");
	return DATADOGREPLY_NONE;
}

/* [time, value or null]; false: malformed. */
static bool point(const json_t *points, size_t at, const json_t **value)
{
	const json_t *one = json_array_get(points, at);

	*value = json_array_get(one, 1);
	return json_array_size(one) == 2 && (json_is_number(*value) || json_is_null(*value));
}

static enum datadogreply last_of(const json_t *points, int64_t places_back, double *out, struct err *err)
{
	size_t count = json_array_size(points), last = count;
	const json_t *value = NULL;

	while (last > 0 && !json_is_number(value)) {
		last--;
		if (!point(points, last, &value)) {
			err_set(err, ERR_INVALID, "a point of a series is not a pair of time and value");
			return DATADOGREPLY_FAILED;
		}
	}
	if (!json_is_number(value))
		return none(err);
	if ((int64_t)last < places_back) {
		err_set(err, ERR_INVALID,
			"index is smaller than the lastAvailablePointOffset: the series has %zu points", count);
		return DATADOGREPLY_FAILED;
	}
	if (!point(points, last - (size_t)places_back, &value) || json_is_null(value))
		return none(err);
	*out = json_number_value(value);
	return DATADOGREPLY_VALUE;
}

/* Errors in a query are reported with status 200, too. */
static int check_status(const json_t *answer, struct err *err)
{
	char words[DATADOGREPLY_WORDS];

	if (!json_str_is(answer, "status", "error") && !*json_str_or_empty(answer, "error"))
		return 0;
	datadogreply_words(answer, words);
	return err_set(err, ERR_INVALID, "error when retrieving Datadog metrics%s%s", *words ? ": " : "", words);
}

enum datadogreply datadogreply_series(const json_t *answer, enum datadogreply_aggregator how, int64_t places_back,
	double *value, struct err *err)
{
	const json_t *list = json_object_get(answer, "series"), *points;
	double sum = 0, most = -INFINITY, one = 0;
	size_t count = json_array_size(list);

	if (check_status(answer, err))
		return DATADOGREPLY_FAILED;
	if (!json_is_array(list)) {
		err_set(err, ERR_INVALID, "the answer has no array \"series\": does datadogSite lead to Datadog?");
		return DATADOGREPLY_FAILED;
	}
	if (count > 1 && how == DATADOGREPLY_ONE) {
		err_set(err, ERR_INVALID,
			"query returned more than 1 series; modify the query to return only 1 series or add a "
			"queryAggregator");
		return DATADOGREPLY_FAILED;
	}
	for (size_t i = 0; i < count; i++) {
		enum datadogreply rc = DATADOGREPLY_FAILED;

		points = json_object_get(json_array_get(list, i), "pointlist");
		if (json_is_array(points))
			rc = last_of(points, places_back, &one, err);
		else
			err_set(err, ERR_INVALID, "series[%zu] has no \"pointlist\"", i);
		if (rc != DATADOGREPLY_VALUE)
			return rc;
		sum += one;
		most = one > most ? one : most;
	}
	if (count == 0)
		return none(err);
	one = how == DATADOGREPLY_AVERAGE ? sum / (double)count : most;
	if (isfinite(one)) {
		*value = one;
		return DATADOGREPLY_VALUE;
	}
	err_set(err, ERR_INVALID, "the average of the series is too large");
	return DATADOGREPLY_FAILED;
}

/* ---- The Cluster Agent ---- */

int datadogreply_metric(const json_t *answer, double *value, struct err *err)
{
	const json_t *first = json_array_get(json_object_get(answer, "items"), 0),
		     *it = json_object_get(first, "value");
	struct quantity quantity;
	struct err unfit;

	if (json_is_number(it)) {
		*value = json_number_value(it);
		return 0;
	}
	if (json_is_string(it) && quantity_parse(json_string_value(it), &quantity, &unfit) == 0) {
		*value = (double)quantity.milli / 1000;
		return 0;
	}
	return err_set(err, ERR_INVALID,
		"the metric value must be of type number or a string representing a Quantity: items.0.value is "
		"neither");
}

char *datadogreply_words(const json_t *answer, char out[DATADOGREPLY_WORDS])
{
	const json_t *first = json_array_get(json_object_get(answer, "errors"), 0);
	const char *words = json_is_string(first) ? json_string_value(first) : json_str_or_empty(answer, "error");

	if (!*words)
		words = json_str_or_empty(answer, "message");
	return text_line(words, strlen(words), out, DATADOGREPLY_WORDS);
}
