/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/checks.h"

#include <config.h> /* configure's; in quotes it would be the one of another room */
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

const char *const definitions_plurals[] = { "scaledobjects", "scaledjobs", "triggerauthentications",
	"clustertriggerauthentications", NULL };

/* The version that the CRDs should have. */
static const char *version_of(const struct facts *c)
{
	return c->setup->version ? c->setup->version : PACKAGE_VERSION;
}

enum whose { OURS, OURS_OF_ANOTHER_VERSION, OF_OTHERS };

static enum whose whose(const struct facts *c, const json_t *crd)
{
	const json_t *labels = fields_at(crd, "metadata.labels");

	if (!json_str_is(labels, "app.kubernetes.io/name", "kscaled"))
		return OF_OTHERS;
	return json_str_is(labels, "app.kubernetes.io/version", version_of(c)) ? OURS : OURS_OF_ANOTHER_VERSION;
}

/* A Helm release installed without CRDs does not restore a missing one. */
static char *mend(const struct facts *c)
{
	struct doctor_setup setup = *c->setup;
	struct facts whole = *c;

	for (const char *const *plural = definitions_plurals; *plural; plural++) {
		MEM_AUTO char *fact = mem_printf("crd %s", *plural);
		const json_t *crd = facts_object(c, fact), *notes = fields_at(crd, "metadata.annotations");

		if (crd && c->setup->installer == DOCTOR_HELM &&
			!json_str_is(notes, "meta.helm.sh/release-name", c->setup->release))
			return mem_dup("the release was installed without CRDs (crds.install=false): whoever installed "
				       "the others must apply them all again");
	}
	setup.manifests.no_crds = false; /* the CRDs are what must be applied */
	whole.setup = &setup;
	return facts_apply(&whole);
}

/* Counts a usable CRD by its origin. false: it could not be read, and a finding says so. */
static bool check(const struct facts *c, const char *plural, size_t counts[3])
{
	MEM_AUTO char *fact = mem_printf("crd %s", plural);
	const json_t *crd = facts_object(c, fact);

	if (!facts_known(c, fact))
		return false;
	if (!crd)
		facts_error(c, mend(c), "CustomResourceDefinition %s.keda.sh is missing", plural);
	else if (!fields_has_condition(crd, "Established"))
		facts_error(c, mem_printf("kubectl describe crd %s.keda.sh", plural),
			"CustomResourceDefinition %s.keda.sh is not established: %s", plural,
			json_str_or_empty(fields_condition(crd, "NamesAccepted"), "message"));
	else if (!json_is_true(
			 json_object_get(fields_entry(fields_at(crd, "spec.versions"), "name", "v1alpha1"), "served")))
		facts_error(c, mend(c), "%s.keda.sh is not served as v1alpha1", plural);
	else
		counts[whose(c, crd)]++;
	return true;
}

void definitions_crds(const struct facts *c)
{
	size_t counts[3] = { 0 }, all = 0;

	/* If one may not be read, none may: report it once. */
	for (const char *const *plural = definitions_plurals; *plural && check(c, *plural, counts); plural++)
		continue;
	all = counts[OURS] + counts[OURS_OF_ANOTHER_VERSION] + counts[OF_OTHERS];
	if (counts[OURS_OF_ANOTHER_VERSION] > 0)
		facts_warn(c, mend(c),
			"%zu of %zu CustomResourceDefinitions are not of kscaled %s: the API server drops fields that "
			"they do not know",
			counts[OURS_OF_ANOTHER_VERSION], all, version_of(c));
	else if (counts[OF_OTHERS] > 0)
		facts_ok(c, "v1alpha1 is served; %zu of %zu have KEDA's schema, not kscaled's", counts[OF_OTHERS], all);
	else if (all > 0)
		facts_ok(c, "%zu, served as v1alpha1, of kscaled %s", all, version_of(c));
}
