/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/values/yamlpath.h"

#include <jansson.h>
#include <stdlib.h>

#include "base/mem.h"
#include "base/places.h"
#include "base/yamljson.h"
#include "scalers/values/metricvalue.h"

static const char *kind(const json_t *value)
{
	return json_is_object(value)   ? "a mapping"
		: json_is_array(value) ? "a list"
		: json_is_null(value)  ? "null"
				       : "a scalar";
}

static int dead_end(const struct dotpath *path, size_t depth, const json_t *value, struct err *err)
{
	MEM_AUTO char *name = dotpath_text(&(struct dotpath){ path->parts + depth, 1 }, 1);
	MEM_AUTO char *above = dotpath_text(path, depth);

	if (json_is_object(value))
		return err_set(err, ERR_INVALID, "key \"%s\" not found%s%s", name, depth > 0 ? " in " : "", above);
	if (json_is_array(value) && path->parts[depth].indexed)
		return err_set(err, ERR_INVALID, "%s has %zu elements, so there is none with index %s", above,
			json_array_size(value), name);
	return err_set(err, ERR_INVALID, "%s is %s: there is no \"%s\" in it", above, kind(value), name);
}

static int find(const struct dotpath *path, const json_t *root, metricvalue_fn read, double *out, struct err *err)
{
	const json_t *value = root;

	for (size_t i = 0; i < path->count; i++) {
		const struct dotpath_part *part = &path->parts[i];
		const json_t *next = json_is_object(value) ? json_object_get(value, part->name)
			: part->indexed                    ? json_array_get(value, part->index)
							   : NULL;

		if (!next)
			return dead_end(path, i, value, err);
		value = next;
	}
	return read(value, out, err);
}

int yamlpath_read(const struct dotpath *path, const char *text, size_t len, metricvalue_fn read, double *out,
	struct err *err)
{
	struct yamljson *y = yamljson_new(text, len, YAMLJSON_FOREIGN_VALUES_MAX);
	struct places places = { 0 };
	json_t *root = NULL;
	int rc = yamljson_next(y, &root, &places, err);

	if (rc < 0)
		err_wrap(err, "the text is not understood");
	else if (rc == 0 || json_is_null(root))
		rc = err_set(err, ERR_INVALID, "the text is empty");
	else if (places.fault_count > 0)
		rc = err_set(err, ERR_INVALID, "the text is not understood: line %u: a mapping has a key twice",
			places.list[places.faults[0].place].line);
	else if (!json_is_object(root))
		rc = err_set(err, ERR_INVALID, "the text is %s, not a mapping", kind(root));
	else
		rc = find(path, root, read, out, err);
	places_done(&places);
	json_decref(root);
	yamljson_free(y);
	return rc;
}

int yamlpath_number(const struct dotpath *path, const char *answer, size_t len, double *out, struct err *err)
{
	return yamlpath_read(path, answer, len, metricvalue_of_json, out, err);
}
