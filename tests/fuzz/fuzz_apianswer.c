/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Answers of the API server that hold what others wrote: Pods, EndpointSlices, the ConfigMap of the
 * front proxy, a refusal. The first byte chooses the status of the refusal; the rest is JSON, read
 * by each of those who read such; or, where it is none, lines, each the text of one key of the
 * ConfigMap.
 */

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "decide/jobs/jobs.h"
#include "fuzz.h"
#include "kube/status.h"
#include "scalers/cluster/podtable.h"
#include "scalers/metricsapi/serviceurls.h"
#include "serve/access/frontproxyconfig.h"

static void read_status(const json_t *answer)
{
	struct err err = { 0 };

	status_object_to_err(answer, &err);
	must(err.kind != ERR_NONE && err.msg[0] != '\0');
}

static void read_pods(const json_t *answer)
{
	static const char *const conditions[] = { "Ready", "PodScheduled" };
	struct podtable table = { 0 };
	const json_t *items = json_object_get(answer, "items"), *pod;
	size_t i, before;

	json_array_foreach(items, i, pod)
	{
		podtable_take(&table, pod, 1);
		jobs_pod_started(pod, conditions, i % 3);
	}
	podtable_listed(&table, 1);
	before = podtable_pods(&table);
	must(before <= json_array_size(items) && podtable_nodes(&table) <= before);
	podtable_take(&table, answer, 1);
	must(podtable_pods(&table) <= before + 1);
	json_array_foreach(items, i, pod) podtable_drop(&table, pod);
	podtable_drop(&table, answer);
	must(podtable_pods(&table) == 0 && podtable_nodes(&table) == 0);
	podtable_done(&table);
	jobs_pod_started(answer, NULL, 0);
}

static void read_endpoints(const json_t *answer)
{
	struct serviceurls s;
	struct err err = { 0 };
	char **urls;
	size_t count;

	must(serviceurls_read("http://web.shop.svc:8080/metrics?a=b", &s, NULL) == 0);
	if (serviceurls_of(&s, answer, &urls, &count, &err) == 0) {
		must(count > 0 && count <= SERVICEURLS_MAX);
		for (size_t i = 0; i < count; i++) {
			must(strncmp(urls[i], "http://", 7) == 0 && !strpbrk(urls[i], "@ \r\n"));
			free(urls[i]);
		}
		free(urls);
	} else {
		must(err.kind == ERR_TEMPORARY || err.kind == ERR_INVALID);
	}
	serviceurls_done(&s);
}

static void read_frontproxy(const json_t *answer)
{
	struct frontproxy_config config = { 0 };
	struct err err = { 0 };

	if (frontproxy_config_decode(answer, &config, &err) < 0) {
		must(err.kind == ERR_MISSING || err.kind == ERR_INVALID);
		must(!config.ca_pem && !config.allowed.list && !config.user_headers.list);
		return;
	}
	must(config.ca_pem && config.user_headers.count > 0);
	must(config.allowed.count == 0 || frontproxy_config_allows(&config, config.allowed.list[0]));
	frontproxy_config_done(&config);
}

static json_t *configmap_of(char *lines)
{
	static const char *const keys[] = { "requestheader-client-ca-file", "requestheader-allowed-names",
		"requestheader-username-headers", "requestheader-uid-headers", "requestheader-group-headers",
		"requestheader-extra-headers-prefix" };
	json_t *data = json_object();
	char *line;

	for (size_t i = 0; i < MEM_COUNT(keys) && (line = strsep(&lines, "\n")); i++)
		json_object_set_new(data, keys[i], json_string(line));
	return json_pack("{s:o}", "data", data);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const int statuses[] = { 400, 401, 403, 404, 409, 410, 422, 429, 500, 503 };
	static void (*const readers[])(
		const json_t *answer) = { read_status, read_pods, read_endpoints, read_frontproxy };
	MEM_AUTO char *text = NULL;
	struct err err = { 0 };
	json_t *answer;

	if (size == 0)
		return 0;
	text = mem_dupn((const char *)data + 1, size - 1);
	status_to_err(statuses[data[0] % MEM_COUNT(statuses)], text, size - 1, data[0], &err);
	must(err.kind != ERR_NONE && err.msg[0] != '\0');
	answer = json_parse(text, size - 1, NULL);
	if (!answer)
		answer = configmap_of(text);
	for (size_t i = 0; i < MEM_COUNT(readers); i++)
		readers[i](answer);
	json_decref(answer);
	return 0;
}
