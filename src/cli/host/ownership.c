/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/host/ownership.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/fields.h"

#define NAME_LABEL   "app.kubernetes.io/name"
#define MANAGER      "app.kubernetes.io/managed-by"
#define HELM_RELEASE "meta.helm.sh/release-"

/*
 * The label alone is no proof: `kubectl apply` of our manifests over KEDA's CRDs leaves it there.
 */
char *ownership_of_others(const json_t *object)
{
	const json_t *labels = fields_at(object, "metadata.labels"),
		     *annotations = fields_at(object, "metadata.annotations"),
		     *owner = fields_at(object, "metadata.ownerReferences.0");
	const char *release = json_str_or_empty(annotations, HELM_RELEASE "name"),
		   *manager = json_str_or_empty(labels, MANAGER);

	if (*release)
		return mem_printf("Helm release %.80s/%.80s made it",
			json_str_or_empty(annotations, HELM_RELEASE "namespace"), release);
	if (owner)
		return mem_printf("%.80s %.253s owns it", json_str_or_empty(owner, "kind"),
			json_str_or_empty(owner, "name"));
	if (*manager && strcmp(manager, "kscaled") != 0)
		return mem_printf("it is managed by %.80s", manager);
	if (!json_str_is(labels, NAME_LABEL, "kscaled"))
		return mem_dup("it has no label " NAME_LABEL "=kscaled, so another installation made it");
	return NULL;
}

void ownership_respect(json_t *wanted, const json_t *there)
{
	MEM_AUTO char *others = there ? ownership_of_others(there) : NULL;

	if (others)
		json_object_del(json_object_get(wanted, "metadata"), "labels");
}
