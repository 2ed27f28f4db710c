/* SPDX-License-Identifier: Apache-2.0 */
#include "control/certs/webhookconfig.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "kube/keeper.h"
#include "net/loop.h"

#define COLLECTION "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"

struct webhookconfig {
	struct keeper *keeper;
	struct loop *loop; /* borrowed */
	void (*on_change)(void *arg);
	void *arg;
	char *namespace_, *service_name, *title;
	json_t *seen; /* as it was last seen: a few hundred bytes; NULL: it does not exist */
	char *bundle; /* base64, as caBundle has it; NULL: not known yet */
	int64_t since_ms;
	bool leading;
};

/* ---- What is there ---- */

static const json_t *webhooks_of(const json_t *configuration)
{
	return json_object_get(configuration, "webhooks");
}

static bool is_ours(const struct webhookconfig *w, const json_t *client_config)
{
	const json_t *service = json_object_get(client_config, "service");

	return strcmp(json_str_or_empty(service, "namespace"), w->namespace_) == 0 &&
		strcmp(json_str_or_empty(service, "name"), w->service_name) == 0;
}

static bool holds(const json_t *client_config, const char *ca_pem)
{
	MEM_AUTO char *bundle = base64_decode(json_str_or_empty(client_config, "caBundle"), NULL);

	return bundle && strstr(bundle, ca_pem);
}

bool webhookconfig_is_known(const struct webhookconfig *w)
{
	return keeper_is_known(w->keeper);
}

bool webhookconfig_trusts(const struct webhookconfig *w, const char *ca_pem)
{
	const json_t *webhook;
	size_t i;

	json_array_foreach(webhooks_of(w->seen), i, webhook)
	{
		const json_t *client_config = json_object_get(webhook, "clientConfig");

		if (is_ours(w, client_config) && !holds(client_config, ca_pem))
			return false;
	}
	return true;
}

int64_t webhookconfig_since_ms(const struct webhookconfig *w)
{
	return w->since_ms;
}

/* ---- What is to be written ---- */

static bool lacks_bundle(const struct webhookconfig *w, const json_t *webhook)
{
	const json_t *client_config = json_object_get(webhook, "clientConfig");

	return is_ours(w, client_config) && strcmp(json_str_or_empty(client_config, "caBundle"), w->bundle) != 0;
}

static bool lacks(void *arg)
{
	const struct webhookconfig *w = arg;
	json_t *webhook;
	size_t i;

	if (!w->seen || !w->bundle || !w->leading)
		return false;
	json_array_foreach(webhooks_of(w->seen), i, webhook) if (lacks_bundle(w, webhook)) return true;
	return false;
}

/* All webhooks with our CA where it belongs: a merge patch knows lists only whole. */
static char *make(void *arg, const char *version, struct err *err)
{
	const struct webhookconfig *w = arg;
	json_t *wanted = json_deep_copy(webhooks_of(w->seen)), *webhook, *patch;
	char *text;
	size_t i;

	(void)err;
	json_array_foreach(wanted, i, webhook) if (lacks_bundle(w, webhook))
		json_object_set_new(json_object_get(webhook, "clientConfig"), "caBundle", json_string(w->bundle));
	patch = json_pack("{s:{s:s}, s:o}", "metadata", "resourceVersion", version, "webhooks", wanted);
	text = json_text(patch);
	json_decref(patch);
	return text;
}

static void on_object(void *arg, const json_t *object)
{
	struct webhookconfig *w = arg;

	if (!json_equal(webhooks_of(w->seen), webhooks_of(object)))
		w->since_ms = loop_now_ms(w->loop);
	json_decref(w->seen);
	w->seen = json_incref((json_t *)(uintptr_t)object);
}

static void on_written(void *arg, bool created)
{
	const struct webhookconfig *w = arg;

	(void)created;
	log_info(w->title, "our certificate authority is in its caBundle");
}

static void on_change(void *arg)
{
	struct webhookconfig *w = arg;

	w->on_change(w->arg);
}

static const struct keeper_policy policy = { on_object, lacks, make, on_written, on_change };

/* ---- In and out ---- */

void webhookconfig_set_leading(struct webhookconfig *w, bool leading)
{
	w->leading = leading;
	keeper_look(w->keeper);
}

void webhookconfig_set_bundle(struct webhookconfig *w, const char *pem)
{
	free(w->bundle);
	w->bundle = base64_encode(pem, strlen(pem));
	keeper_look(w->keeper);
}

struct webhookconfig *webhookconfig_new(struct kube *kube, const struct webhookconfig_config *config,
	void (*on_change_fn)(void *arg), void *arg)
{
	struct webhookconfig *w = mem_zalloc(sizeof *w);
	struct keeper_config kept = {
		.collection = COLLECTION,
		.name = config->name,
		.without = "objects are not judged before they are stored",
	};

	w->loop = kube_loop(kube);
	w->on_change = on_change_fn;
	w->arg = arg;
	w->namespace_ = mem_dup(config->namespace_);
	w->service_name = mem_dup(config->service_name);
	kept.title = w->title = mem_printf("webhook configuration %s", config->name);
	w->keeper = keeper_new(kube, &kept, &policy, w);
	return w;
}

void webhookconfig_free(struct webhookconfig *w)
{
	if (!w)
		return;
	keeper_free(w->keeper);
	json_decref(w->seen);
	free(w->bundle);
	free(w->namespace_);
	free(w->service_name);
	free(w->title);
	free(w);
}
