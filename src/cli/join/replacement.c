/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/join/replacement.h"

#include <string.h>

#include "base/json.h"
#include "cli/fields.h"

static bool is_name(const json_t *spec)
{
	return json_str_is(spec, "type", "ExternalName");
}

static bool service_fits(const json_t *there, const json_t *wanted)
{
	return is_name(there) == is_name(wanted) &&
		(is_name(wanted) ||
			strcmp(fields_text(there, "ipFamilies.0"), fields_text(wanted, "ipFamilies.0")) == 0);
}

enum replacement replacement_for(const json_t *there, const json_t *wanted)
{
	bool fits = true;

	if (!there)
		return REPLACEMENT_NONE;
	if (json_str_is(wanted, "kind", "Service")) {
		fits = service_fits(json_object_get(there, "spec"), json_object_get(wanted, "spec"));
		return fits ? REPLACEMENT_NONE : REPLACEMENT_CLEAR;
	}
	if (json_str_is(wanted, "kind", "EndpointSlice"))
		fits = strcmp(json_str_or_empty(there, "addressType"), json_str_or_empty(wanted, "addressType")) == 0;
	return fits ? REPLACEMENT_NONE : REPLACEMENT_DELETE;
}

bool replacement_is_ours(const json_t *there)
{
	return json_str_is(fields_at(there, "metadata.labels"), "app.kubernetes.io/part-of", "kscaled");
}

json_t *replacement_clear_patch(void)
{
	return json_pack("{s:{s:s, s:s, s:n, s:n, s:n, s:n, s:n, s:n}}", "spec", "type", "ExternalName", "externalName",
		"nowhere.invalid", "ports", "selector", "clusterIP", "clusterIPs", "ipFamilies", "ipFamilyPolicy");
}

json_t *replacement_tidy_patch(const json_t *wanted)
{
	if (is_name(json_object_get(wanted, "spec")))
		return NULL;
	return json_pack("{s:{s:n}}", "spec", "externalName");
}
