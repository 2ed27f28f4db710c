/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/leave/cleanup.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/fields.h"
#include "decide/hpaspec.h"

/* Set by control/objects/finalise and by KEDA. */
static const char *const finalizers_of_ours[] = { "kscaled.io/restore", "finalizer.keda.sh", NULL };

json_t *cleanup_without_finalizer(const json_t *object)
{
	const json_t *finalizers = fields_at(object, "metadata.finalizers"), *one;
	json_t *rest = json_array();
	size_t i;

	json_array_foreach(finalizers, i, one)
	{
		if (json_is_string(one) && !text_is_one_of(json_string_value(one), finalizers_of_ours))
			json_array_append(rest, (json_t *)(uintptr_t)one);
	}
	if (json_array_size(rest) == json_array_size(finalizers)) {
		json_decref(rest);
		return NULL;
	}
	return json_pack("{s:{s:s, s:o}}", "metadata", "resourceVersion",
		fields_text(object, "metadata.resourceVersion"), "finalizers", rest);
}

static bool is_service(const json_t *service, const char *namespace_, const char *name)
{
	return json_str_is(service, "namespace", namespace_) && json_str_is(service, "name", name);
}

bool cleanup_leads_to(const json_t *object, const char *namespace_, const char *service)
{
	const json_t *webhooks = json_object_get(object, "webhooks"), *one;
	size_t i;

	if (!json_is_array(webhooks))
		return is_service(fields_at(object, "spec.service"), namespace_, service);
	json_array_foreach(webhooks, i, one)
	{
		if (!is_service(fields_at(one, "clientConfig.service"), namespace_, service))
			return false;
	}
	return true;
}

const char *cleanup_scaledobject_of(const json_t *hpa)
{
	const json_t *owners = fields_at(hpa, "metadata.ownerReferences"), *one;
	size_t i;

	json_array_foreach(owners, i, one)
	{
		if (json_str_is(one, "kind", "ScaledObject") &&
			text_begins(json_str_or_empty(one, "apiVersion"), "keda.sh/"))
			return json_str_or_empty(one, "name");
	}
	return NULL;
}

bool cleanup_is_our_hpa(const json_t *hpa)
{
	const json_t *labels = fields_at(hpa, "metadata.labels");

	return json_str_is(labels, "app.kubernetes.io/managed-by", "kscaled") ||
		json_str_is(labels, HPASPEC_MANAGED_LABEL, "true");
}

/* Whether text is safe in a path: it comes from a status, which users may write. */
static bool is_plain(const char *text)
{
	return *text && !text[strspn(text, "abcdefghijklmnopqrstuvwxyz0123456789.-")];
}

char *cleanup_original(const json_t *scaledobject, int64_t *replicas)
{
	const json_t *gvkr = fields_at(scaledobject, "status.scaleTargetGVKR"),
		     *count = fields_at(scaledobject, "status.originalReplicaCount");
	const char *group = json_str_or_empty(gvkr, "group"), *version = json_str_or_empty(gvkr, "version"),
		   *resource = json_str_or_empty(gvkr, "resource"), *namespace_ = fields_namespace(scaledobject),
		   *name = fields_text(scaledobject, "spec.scaleTargetRef.name");

	if (!json_is_integer(count) || json_integer_value(count) < 0 || (*group && !is_plain(group)) ||
		!is_plain(version) || !is_plain(resource) || !is_plain(namespace_) || !is_plain(name))
		return NULL;
	*replicas = json_integer_value(count);
	return mem_printf("/%s%s%s/%s/namespaces/%s/%s/%s/scale", *group ? "apis" : "api", *group ? "/" : "", group,
		version, namespace_, resource, name);
}
