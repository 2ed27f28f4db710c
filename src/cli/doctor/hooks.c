/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/hooks.h"

#include <string.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/mem.h"
#include "control/certs/certs.h"

/* A patch of all webhooks would need their number: kscaled writes them itself when it leads. */
static bool judge_one(const struct casefile *c, const json_t *hook, const char *ca)
{
	const json_t *service = casefile_at(hook, "clientConfig.service");
	const char *name = json_str_or_empty(hook, "name"), *encoded = casefile_text_at(hook, "clientConfig.caBundle");
	MEM_AUTO char *bundle = base64_decode(encoded, NULL);

	if (!json_str_is(service, "name", c->setup->service_name) ||
		!json_str_is(service, "namespace", c->setup->namespace_))
		casefile_wrong(c, casefile_apply(c), "%s names Service %s/%s", name,
			json_str_or_empty(service, "namespace"), json_str_or_empty(service, "name"));
	else if (!*encoded)
		casefile_wrong(c, casefile_restart(c), "%s has no caBundle: kscaled has never led since it was made",
			name);
	else if (*ca && !casefile_bundle_has(bundle, ca))
		casefile_wrong(c, casefile_restart(c), "the caBundle of %s is not kscaled's authority", name);
	else if (json_str_is(hook, "failurePolicy", "Fail"))
		casefile_warn(c, casefile_apply_with(c, "webhooks.failurePolicy=Ignore", ""),
			"%s has failurePolicy Fail: while kscaled is away no such object can be stored", name);
	else
		return true;
	return false;
}

void hooks_configuration(const struct casefile *c)
{
	bool told;
	const json_t *configuration = casefile_read(c, "webhooks", &told), *hook,
		     *hooks = json_object_get(configuration, "webhooks");
	const char *ca = c->setup->tls_cert_file ? "" : casefile_text_at(casefile_object(c, "certificates"), "ca");
	size_t i, good = 0;

	if (told)
		return;
	if (!configuration && !c->setup->webhook) {
		casefile_fine(c, "there is none, as --webhook=false has it");
		return;
	}
	if (!configuration) {
		casefile_warn(c, casefile_apply(c),
			"there is no ValidatingWebhookConfiguration " CERTS_WEBHOOKS
			": what is wrong with an object is told after it is stored (if that is meant: --no-webhook)");
		return;
	}
	if (!c->setup->webhook)
		casefile_wrong(c, mem_dup("kubectl delete validatingwebhookconfiguration " CERTS_WEBHOOKS),
			"there is a ValidatingWebhookConfiguration, but kscaled runs with --webhook=false: the API "
			"server "
			"asks in vain");
	json_array_foreach(hooks, i, hook) good += judge_one(c, hook, ca);
	if (c->setup->webhook && good == json_array_size(hooks))
		casefile_fine(c, "%zu webhooks lead to Service %s/%s", good, c->setup->namespace_,
			c->setup->service_name);
}

#define DENIED "admission webhook \"vscaledobject.kscaled.io\" denied the request"

void hooks_reached(const struct casefile *c)
{
	const json_t *stored = casefile_object(c, "trial"), *found = json_object_get(c->facts, "trial");
	const char *message = casefile_message(c, "trial");

	if (!casefile_object(c, "webhooks") && !found)
		casefile_skip(c, "not looked at: there is no webhook, as far as it is known");
	else if (strstr(message, DENIED))
		casefile_fine(c, "refuses what must be refused");
	else if (stored)
		casefile_wrong(c, casefile_restart(c),
			"the API server does not get to the webhook: it took a ScaledObject (--dry-run) that must be "
			"refused");
	else if (strstr(message, "admission webhook"))
		casefile_warn(c, NULL, "another webhook was first: %s", message);
	else if (strstr(message, "failed calling webhook"))
		casefile_wrong(c, casefile_restart(c), "the API server does not get to the webhook: %s", message);
	else if (json_str_is(found, "error", "denied"))
		casefile_skip(c, "not looked at: needs %s", json_str_or_empty(found, "wanted"));
	else
		casefile_wrong(c, NULL, "a ScaledObject could not be tried: %s", message);
}
