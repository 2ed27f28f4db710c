/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/check/crdschema.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "cli/documents.h"
#include "cli/fields.h"
#include "cli/manifests_text.h"
#include "crd/triggerauth.h"

static const struct {
	const char *kind;
	const char *text;
} crds[] = {
	{ "ScaledObject", manifests_crd_scaledobjects },
	{ "ScaledJob", manifests_crd_scaledjobs },
	{ TRIGGERAUTH_KIND, manifests_crd_triggerauthentications },
	{ TRIGGERAUTH_CLUSTER_KIND, manifests_crd_clustertriggerauthentications },
};

struct crdschema {
	struct documents *read[MEM_COUNT(crds)];
};

struct crdschema *crdschema_new(void)
{
	return mem_zalloc(sizeof(struct crdschema));
}

void crdschema_free(struct crdschema *s)
{
	if (!s)
		return;
	for (size_t i = 0; i < MEM_COUNT(crds); i++)
		documents_free(s->read[i]);
	free(s);
}

const json_t *crdschema_get(struct crdschema *s, const char *kind)
{
	size_t i = 0;

	while (i < MEM_COUNT(crds) && strcmp(crds[i].kind, kind) != 0)
		i++;
	if (i == MEM_COUNT(crds))
		return NULL;
	if (!s->read[i]) {
		s->read[i] = documents_new();
		documents_read(s->read[i], kind, crds[i].text, strlen(crds[i].text), NULL);
	}
	return fields_at(s->read[i]->list[0].json, "spec.versions.0.schema.openAPIV3Schema");
}
