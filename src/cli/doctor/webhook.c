/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/checks.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "control/certs/certs.h"

/*
 * The fix is a restart, not a patch: a patch would need the webhooks' number, and the leader writes
 * caBundle itself.
 */
static bool check_one(const struct facts *c, const json_t *hook, const char *ca)
{
	const json_t *service = fields_at(hook, "clientConfig.service");
	const char *name = json_str_or_empty(hook, "name");

	if (!json_str_is(service, "name", c->service) || !json_str_is(service, "namespace", c->namespace_))
		facts_error(c, facts_apply(c), "%s names Service %s/%s", name, json_str_or_empty(service, "namespace"),
			json_str_or_empty(service, "name"));
	else if (!facts_bundle(c, name, fields_text(hook, "clientConfig.caBundle"), ca, facts_restart(c)))
		return false;
	else if (json_str_is(hook, "failurePolicy", "Fail"))
		facts_warn(c, facts_apply_with(c, "webhooks.failurePolicy=Ignore", ""),
			"%s has failurePolicy Fail: while kscaled is down, no such object can be stored", name);
	else
		return true;
	return false;
}

void webhook_configuration(const struct facts *c)
{
	const json_t *configuration = facts_object(c, "webhooks"), *hook,
		     *hooks = json_object_get(configuration, "webhooks");
	const char *ca = c->setup->tls_cert_file ? "" : fields_text(c->facts, "certificates.object.ca");
	size_t i, good = 0;

	if (!configuration && c->setup->manifests.no_webhook) {
		facts_ok(c, "none: --webhook=false");
		return;
	}
	if (!configuration) {
		facts_warn(c, facts_apply(c),
			"there is no ValidatingWebhookConfiguration " CERTS_WEBHOOKS
			": invalid objects are stored and reported only later (if that is intended: --no-webhook)");
		return;
	}
	if (c->setup->manifests.no_webhook)
		facts_error(c, mem_dup("kubectl delete validatingwebhookconfiguration " CERTS_WEBHOOKS),
			"a ValidatingWebhookConfiguration exists, but kscaled runs with --webhook=false: the API "
			"server's requests fail");
	json_array_foreach(hooks, i, hook) good += check_one(c, hook, ca);
	if (!c->setup->manifests.no_webhook && good == json_array_size(hooks))
		facts_ok(c, "%zu webhooks point to Service %s/%s", good, c->namespace_, c->service);
}

#define DENIED "admission webhook \"vscaledobject.kscaled.io\" denied the request"

void webhook_reached(const struct facts *c)
{
	const json_t *stored = facts_object(c, "trial"), *found = json_object_get(c->facts, "trial");
	const char *message = fields_text(c->facts, "trial.message");

	if (!facts_object(c, "webhooks") && !found)
		facts_skip(c, "not checked: no webhook is known");
	else if (strstr(message, DENIED))
		facts_ok(c, "denies invalid objects");
	else if (stored)
		facts_error(c, facts_restart(c),
			"the API server does not reach the webhook: it accepted an invalid ScaledObject (--dry-run)");
	else if (strstr(message, "admission webhook"))
		facts_warn(c, NULL, "another webhook answered first: %s", message);
	else if (strstr(message, "failed calling webhook"))
		facts_error(c, facts_restart(c), "the API server does not reach the webhook: %s", message);
	else if (json_str_is(found, "error", "denied"))
		facts_skip(c, "not checked: needs %s", json_str_or_empty(found, "wanted"));
	else
		facts_error(c, NULL, "the test with a ScaledObject failed: %s", message);
}
