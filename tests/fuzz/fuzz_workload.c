/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A scale target and the environment of each of its containers: within its caps, and no name both
 * known and unresolved.
 */

#include <string.h>

#include "base/json.h"
#include "crd/workload.h"
#include "fuzz.h"

#define VALUE_CAP ((size_t)128 * 1024)
#define CAP       ((size_t)2048 * 1024)

/*
 * A Secret or ConfigMap has what it is asked for, cannot be read yet, or is not there, by the last
 * letter of its name.
 */
static int key(void *arg, enum keydata_kind kind, const char *name, const char *key, const char **value,
	struct err *err)
{
	size_t len = strlen(name);

	(void)arg;
	(void)kind;
	(void)key;
	*value = name;
	if (len > 0 && name[len - 1] % 3 == 0)
		return err_set(err, len % 2 ? ERR_WAITING : ERR_TEMPORARY, "waits");
	return len > 0 && name[len - 1] % 3 == 1 ? err_set(err, ERR_MISSING, "no such key") : 0;
}

static int all(void *arg, enum keydata_kind kind, const char *name, const struct strmap **data, struct err *err)
{
	const char *value;

	*data = arg;
	return key(arg, kind, name, "", &value, err);
}

static void check_environment(const struct workload *w, const char *container)
{
	struct strmap known = { 0 }, unresolved = { 0 }, wanted = { 0 }, data = { 0 };
	const struct workload_lookup lookup = { .arg = &data, .key = key, .all = all };
	size_t bytes = 0;
	struct err err;

	strmap_set(&data, "A", "$(B)");
	strmap_set(&wanted, "A", "");
	for (size_t i = 0; i < w->container_count; i++)
		for (size_t j = 0; j < w->containers[i].env_count && j < 100; j++)
			strmap_set(&wanted, w->containers[i].env[j].name, "");
	if (workload_environment(w, container, &wanted, &lookup, &known, &unresolved, &err) < 0)
		must((err.kind == ERR_INVALID || err.kind == ERR_TEMPORARY || err.kind == ERR_WAITING) &&
			err.msg[0] != '\0');
	for (size_t i = 0; i < known.count; i++) {
		must(strmap_get(&unresolved, known.pairs[i].key) == NULL);
		must(strlen(known.pairs[i].value) <= VALUE_CAP);
		bytes += strlen(known.pairs[i].value);
	}
	must(bytes <= CAP);
	strmap_done(&known);
	strmap_done(&unresolved);
	strmap_done(&wanted);
	strmap_done(&data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err;
	json_t *value = json_parse((const char *)data, size, &err);
	struct workload *w;

	if (value == NULL)
		return 0;
	w = workload_decode(value, &err);
	must(w != NULL || (err.kind == ERR_INVALID && err.msg[0] != '\0'));
	json_decref(value);
	if (w == NULL)
		return 0;
	must(w->replicas >= 0);
	check_environment(w, NULL);
	check_environment(w, "no such container");
	for (size_t i = 0; i < w->container_count; i++)
		check_environment(w, w->containers[i].name);
	workload_free(w);
	return 0;
}
