/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A live HPA: the normal form is the normal form of itself; whatever the object was, merging makes
 * it what is wanted, or says who controls it.
 */

#include <string.h>

#include "base/json.h"
#include "decide/hpaspec.h"
#include "fuzz.h"

static const char web[] =
	"{\"metadata\":{\"name\":\"web\",\"namespace\":\"shop\",\"uid\":\"u\",\"labels\":{\"a\":\"b\"},\"annotations\":"
	"{\"c\":\"d\"}},"
	"\"spec\":{\"scaleTargetRef\":{\"name\":\"web\"},\"triggers\":[{\"type\":\"redis\",\"metadata\":{}}]}}";

static json_t *wanted_hpa(void)
{
	static const struct metric_spec metrics[] = {
		{ .name = "s0-x", .target_type = METRIC_AVERAGE_VALUE, .target = { 5000, QUANTITY_DECIMAL_SI } }
	};
	json_t *object = json_parse(web, strlen(web), NULL), *made;
	struct scaledobject *so = scaledobject_decode(object, NULL);

	made = hpaspec_make(so, metrics, 1, "1", NULL);
	must(made != NULL);
	scaledobject_free(so);
	json_decref(object);
	return made;
}

static void check_normal(const json_t *spec)
{
	json_t *normal = hpa_spec_normal(spec), *parsed, *again;
	char *text = json_text(normal);

	parsed = json_parse(text, strlen(text), NULL);
	must(parsed != NULL);
	again = hpa_spec_normal(parsed);
	must(json_equal(normal, again));
	must(hpa_spec_fingerprint(spec) == hpa_spec_fingerprint(parsed));
	free(text);
	json_decref(normal);
	json_decref(again);
	json_decref(parsed);
}

/*
 * Maps that are no maps of strings make the merged object unreadable too; the API server would
 * refuse it by name.
 */
static void check_merge(const json_t *object)
{
	json_t *wanted = wanted_hpa(), *merged;
	struct err err = { 0 };
	struct hpa *live;

	if (hpaspec_applied_by(object))
		json_decref(hpaspec_given_away(object));
	merged = hpaspec_merge(wanted, object, &err);
	must(merged != NULL || err.kind == ERR_CONFLICT || err.kind == ERR_INVALID);
	live = merged != NULL ? hpa_decode(merged, &err) : NULL;
	must(live == NULL || hpaspec_matches(wanted, live));
	hpa_free(live);
	json_decref(merged);
	json_decref(wanted);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err;
	json_t *value = json_parse((const char *)data, size, &err);
	struct hpa *hpa;

	if (value == NULL)
		return 0;
	hpa = hpa_decode(value, &err);
	must(hpa != NULL || (err.kind == ERR_INVALID && err.msg[0] != '\0'));
	hpa_free(hpa);
	check_normal(json_object_get(value, "spec"));
	check_merge(value);
	json_decref(value);
	return 0;
}
