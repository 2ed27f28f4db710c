/* SPDX-License-Identifier: Apache-2.0 */

/* A scale target and the environment of each of its containers: within its caps, and no name both known and unresolved. */

#include <string.h>

#include "base/json.h"
#include "crd/workload.h"
#include "fuzz.h"

#define VALUE_CAP ((size_t)128 * 1024)
#define CAP ((size_t)2048 * 1024)

static void check_environment(const struct workload *w, const char *container)
{
	struct strmap known = { 0 }, unresolved = { 0 };
	size_t bytes = 0;
	struct err err;

	if (workload_environment(w, container, &known, &unresolved, &err) < 0)
		must(err.kind == ERR_INVALID && err.msg[0] != '\0');
	for (size_t i = 0; i < known.count; i++) {
		must(strmap_get(&unresolved, known.pairs[i].key) == NULL);
		must(strlen(known.pairs[i].value) <= VALUE_CAP);
		bytes += strlen(known.pairs[i].value);
	}
	must(bytes <= CAP);
	strmap_done(&known);
	strmap_done(&unresolved);
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
