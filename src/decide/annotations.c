/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/annotations.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

#define REPLICAS_DIGITS_MAX 10 /* 2147483647 */
#define SHOWN_MAX           64 /* of a wrong value, in messages */

static int wrong_value(const char *key, const char *value, const char *must, struct err *err)
{
	return err_set(err, ERR_INVALID, "metadata.annotations[%s]: \"%.*s\" %s", key, SHOWN_MAX, value, must);
}

/* Like Go's strconv.ParseBool. KEDA uses it, too, but takes unreadable values as true. */
bool annotations_read_bool(const char *text, bool *out)
{
	static const char *const words[][2] = { { "0", "1" }, { "f", "t" }, { "F", "T" }, { "false", "true" },
		{ "FALSE", "TRUE" }, { "False", "True" } };

	for (size_t i = 0; i < MEM_COUNT(words); i++) {
		if (strcmp(text, words[i][0]) == 0 || strcmp(text, words[i][1]) == 0) {
			*out = strcmp(text, words[i][1]) == 0;
			return true;
		}
	}
	return false;
}

static int read_bool(const struct strmap *annotations, const char *key, bool *out, struct err *err)
{
	const char *value = strmap_get(annotations, key);

	*out = false;
	if (!value || annotations_read_bool(value, out))
		return 0;
	return wrong_value(key, value, "is neither true nor false", err);
}

static int read_replicas(const struct strmap *annotations, int32_t *out, struct err *err)
{
	const char *value = strmap_get(annotations, ANNOTATION_PAUSED_REPLICAS);
	size_t digits;
	long long number;

	*out = INT32_UNSET;
	if (!value)
		return 0;
	digits = strspn(value, "0123456789");
	number = digits > 0 && digits <= REPLICAS_DIGITS_MAX && !value[digits] ? strtoll(value, NULL, 10) : -1;
	if (number < 0 || number > INT32_MAX)
		return wrong_value(ANNOTATION_PAUSED_REPLICAS, value, "is not a whole number from 0 to 2147483647",
			err);
	*out = (int32_t)number;
	return 0;
}

int annotations_read_paused(const struct strmap *annotations, bool *paused, struct err *err)
{
	return read_bool(annotations, ANNOTATION_PAUSED, paused, err);
}

int annotations_read(const struct scaledobject *so, struct annotations *out, struct err *err)
{
	const struct strmap *annotations = &so->meta.annotations;
	bool says_paused = strmap_get(annotations, ANNOTATION_PAUSED);
	struct annotations d = { .paused_replicas = INT32_UNSET };

	if (annotations->count == 0) { /* almost always, at each poll */
		*out = d;
		return 0;
	}
	if (read_bool(annotations, ANNOTATION_PAUSED, &d.paused, err) < 0 ||
		read_replicas(annotations, &d.paused_replicas, err) < 0 ||
		read_bool(annotations, ANNOTATION_PAUSED_IN, &d.scale_in_paused, err) < 0 ||
		read_bool(annotations, ANNOTATION_PAUSED_OUT, &d.scale_out_paused, err) < 0 ||
		read_bool(annotations, ANNOTATION_FORCE, &d.force_active, err) < 0 ||
		read_bool(annotations, ANNOTATION_TRANSFER_HPA, &d.transfer_hpa, err) < 0)
		return -1;
	/* A number alone pauses; together with paused: "false" it does not. */
	if (!says_paused)
		d.paused = d.paused_replicas != INT32_UNSET;
	if (!d.paused)
		d.paused_replicas = INT32_UNSET;
	*out = d;
	return 0;
}

bool annotations_same(const struct annotations *a, const struct annotations *b)
{
	return a->paused == b->paused && a->paused_replicas == b->paused_replicas &&
		a->scale_in_paused == b->scale_in_paused && a->scale_out_paused == b->scale_out_paused &&
		a->force_active == b->force_active && a->transfer_hpa == b->transfer_hpa;
}
