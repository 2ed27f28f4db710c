/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/elasticsearch/searchreply.h"

#include <jansson.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "base/text.h"
#include "scalers/values/metricvalue.h"

/* ---- Error messages ---- */

static void copy_words(const char *type, const char *reason, char out[SEARCHREPLY_WORDS])
{
	snprintf(out, SEARCHREPLY_WORDS, "%s%s%s", type ? type : "", type && reason ? ": " : "", reason ? reason : "");
	text_line(out, strlen(out), out, SEARCHREPLY_WORDS);
}

/* From {"type", "reason"}; prefers the root cause, as the outer one may be "all shards failed". */
static void take_words(const json_t *error, char out[SEARCHREPLY_WORDS])
{
	const json_t *cause = json_array_get(json_object_get(error, "root_cause"), 0);
	const json_t *told = json_is_object(cause) ? cause : error;

	copy_words(json_string_value(json_object_get(told, "type")), json_string_value(json_object_get(told, "reason")),
		out);
}

char *searchreply_words(const char *body, size_t len, char out[SEARCHREPLY_WORDS])
{
	json_t *tree = json_parse_foreign(body, len, NULL);
	const json_t *error = json_object_get(tree, "error");

	*out = '\0';
	if (json_is_string(error))
		copy_words(NULL, json_string_value(error), out);
	else
		take_words(error, out);
	json_decref(tree);
	return out;
}

/* ---- Completeness ---- */

/* A count; NaN: missing. */
static double count_of(const json_t *object, const char *name)
{
	const json_t *count = json_object_get(object, name);

	return json_is_number(count) ? json_number_value(count) : NAN;
}

/* Unassigned shards do not count as failed, so successful and total are compared, too. */
static int check_shards(const json_t *tree, struct err *err)
{
	const json_t *shards = json_object_get(tree, "_shards");
	double total = count_of(shards, "total"), good = count_of(shards, "successful");
	char words[SEARCHREPLY_WORDS];

	if (isnan(total) || isnan(good))
		return err_set(err, ERR_INVALID,
			"the answer is not a search result: it has no \"_shards\" with \"total\" and \"successful\"");
	if (good >= total && !(count_of(shards, "failed") > 0))
		return 0;
	take_words(json_object_get(json_array_get(json_object_get(shards, "failures"), 0), "reason"), words);
	return err_set(err, ERR_TEMPORARY,
		"only %.0f of %.0f shards answered, so the value would cover only part of the documents%s%s", good,
		total, *words ? ": " : "", words);
}

/* For cross-cluster searches, which leave out clusters with skip_unavailable without an error. */
static int check_clusters(const json_t *tree, struct err *err)
{
	static const char *const missing[] = { "skipped", "failed", "partial" };
	const json_t *clusters = json_object_get(tree, "_clusters");

	for (size_t i = 0; i < sizeof(missing) / sizeof(missing[0]); i++)
		if (count_of(clusters, missing[i]) > 0)
			return err_set(err, ERR_TEMPORARY,
				"%.0f of %.0f clusters did not answer (\"%s\"), so the value would cover only part "
				"of the documents",
				count_of(clusters, missing[i]), count_of(clusters, "total"), missing[i]);
	return 0;
}

static int check_whole(const json_t *tree, struct err *err)
{
	if (check_shards(tree, err) || check_clusters(tree, err))
		return -1;
	if (json_is_true(json_object_get(tree, "timed_out")))
		return err_set(err, ERR_TEMPORARY,
			"the search timed out (\"timed_out\"), so the value would cover only part of the documents");
	return 0;
}

/* ---- The number ---- */

static int no_number(const char *got, struct err *err)
{
	return err_set(err, ERR_INVALID, "valueLocation must point to value of type number but got: '%s'", got);
}

/* NaN: missing or null. */
static int read_number(const json_t *value, double *out, struct err *err)
{
	*out = NAN;
	if (!value || json_is_null(value))
		return 0;
	if (json_is_string(value))
		return metricvalue_float_of_text(json_string_value(value), json_string_length(value), out)
			? 0
			: no_number("String", err);
	if (!json_is_number(value))
		return no_number(json_is_true(value) ? "True" : json_is_false(value) ? "False" : "JSON", err);
	*out = json_number_value(value);
	return 0;
}

static int read_value(const struct searchreply_rule *rule, json_t *tree, double *out, struct err *err)
{
	if (check_whole(tree, err) || jsonpath_read_in(rule->path, tree, read_number, out, err))
		return -1;
	if (!isnan(*out))
		return 0;
	*out = 0;
	return rule->null_is_zero ? 0 : no_number("Null", err);
}

int searchreply_read(const struct searchreply_rule *rule, const char *body, size_t len, double *out, struct err *err)
{
	json_t *tree = jsonpath_load(body, len, err);
	int rc = tree ? read_value(rule, tree, out, err) : err_wrap(err, "the answer");

	json_decref(tree);
	return rc;
}
