/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/join/reached.h"

#include "base/json.h"
#include "base/mem.h"
#include "cli/fields.h"
#include "cli/host/steps.h"
#include "cli/manifestobjects.h"
#include "control/certs/certs.h"

#define APISERVICE "/apis/apiregistration.k8s.io/v1/apiservices/" CERTS_APISERVICE

int reached_check(struct cluster *c, struct err *why)
{
	json_t *apiservice = cluster_get(c, APISERVICE, why);
	const json_t *condition = fields_condition(apiservice, "Available");
	bool available = fields_has_condition(apiservice, "Available");

	if (!apiservice)
		return -1;
	if (condition)
		err_set(why, ERR_TEMPORARY, "%s: %s", json_str_or_empty(condition, "reason"),
			json_str_or_empty(condition, "message"));
	else
		err_set(why, ERR_TEMPORARY, "the API server has not checked it yet");
	json_decref(apiservice);
	/* The condition may still be that of the previous address, so ask for the metrics, too. */
	return available ? cluster_call(c, KUBE_GET, CLUSTER_METRICS, NULL, NULL, why) : -1;
}

/* Tries one metric of each object until one succeeds. */
void reached_fetch(struct cluster *c)
{
	json_t *list = NULL;
	const json_t *object;
	struct err err = { 0 };
	size_t i, asked = 0;
	bool fetched = false;

	if (cluster_call(c, KUBE_LIST, "/apis/keda.sh/v1alpha1/scaledobjects?limit=50", NULL, &list, &err) == 0)
		json_array_foreach(json_object_get(list, "items"), i, object)
		{
			MEM_AUTO char *path = fetched ? NULL : cluster_metric_path(object),
				      *title = manifestobjects_title(object);

			if (!path)
				continue;
			asked++;
			fetched = cluster_call(c, KUBE_GET, path, NULL, NULL, &err) == 0;
			if (fetched)
				steps_report("fetched a metric of %s through the API server", title);
		}
	if (asked == 0)
		steps_report("no ScaledObject has a metric yet; fetched the list of metrics through the API server");
	else if (!fetched)
		steps_report("no metric could be fetched; the last error: %s", err.msg);
	json_decref(list);
}
