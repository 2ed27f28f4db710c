/* SPDX-License-Identifier: Apache-2.0 */
#include "control/certs/webhookconfig.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "control/certs/reviewpaths.h"
#include "kube/keeper.h"
#include "net/loop.h"

#define COLLECTION "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"

struct webhookconfig {
	struct keeper *keeper;
	struct loop *loop; /* borrowed */
	void (*on_change)(void *arg);
	void *arg;
	struct webhookconfig_config config;
	char *title;
	bool looked;              /* a list or an event showed whether it exists */
	json_t *seen;             /* its newest state: a few hundred bytes; NULL: it does not exist */
	struct reviewpaths paths; /* that it names */
	char *bundle;             /* base64, as in caBundle; NULL: not known yet, or not ours to write */
	int64_t since_ms;
	bool leading;
};

/* ---- Reading ---- */

static const json_t *webhooks_of(const json_t *configuration)
{
	return json_object_get(configuration, "webhooks");
}

static bool is_ours(const struct webhookconfig *w, const json_t *client_config)
{
	const json_t *service = json_object_get(client_config, "service");

	return json_str_is(service, "namespace", w->config.namespace_) &&
		json_str_is(service, "name", w->config.service_name);
}

/* The path at which a webhook asks us; NULL: it does not. A URL is assumed to be ours. */
static const char *path_of(const struct webhookconfig *w, const json_t *client_config)
{
	const char *url = json_str_or_empty(client_config, "url"), *host = strstr(url, "://");

	if (is_ours(w, client_config))
		return json_str_or_empty(json_object_get(client_config, "service"), "path");
	return host ? strchr(host + 3, '/') : NULL;
}

static void note_paths(struct webhookconfig *w)
{
	const json_t *webhook;
	size_t i;

	reviewpaths_retire(&w->paths, loop_now_ms(w->loop));
	json_array_foreach(webhooks_of(w->seen), i, webhook)
	{
		const char *path = path_of(w, json_object_get(webhook, "clientConfig"));

		if (path)
			reviewpaths_name(&w->paths, path);
	}
}

bool webhookconfig_asks_at(const struct webhookconfig *w, const char *path, size_t len)
{
	size_t secret = sizeof(REVIEWPATHS_SECRET) - 1;

	if (w->looked)
		return reviewpaths_has(&w->paths, path, len, loop_now_ms(w->loop));
	/* A replica that may not read it has written no secret path. */
	return keeper_is_known(w->keeper) && (len < secret || strncmp(path, REVIEWPATHS_SECRET, secret) != 0);
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

/* ---- Writing ---- */

/* The secret path that one of our webhooks has already; NULL: none. */
static const char *secret_path(const struct webhookconfig *w)
{
	const json_t *webhook;
	size_t i;

	json_array_foreach(webhooks_of(w->seen), i, webhook)
	{
		const json_t *client_config = json_object_get(webhook, "clientConfig");
		const char *path = is_ours(w, client_config) ? path_of(w, client_config) : "";

		if (reviewpaths_is_secret(path))
			return path;
	}
	return NULL;
}

/* secret: the path that it should have; NULL: none yet */
static bool lacks_something(const struct webhookconfig *w, const json_t *webhook, const char *secret)
{
	const json_t *client_config = json_object_get(webhook, "clientConfig");

	return is_ours(w, client_config) &&
		(!secret || strcmp(path_of(w, client_config), secret) != 0 ||
			(w->bundle && !json_str_is(client_config, "caBundle", w->bundle)));
}

static bool lacks(void *arg)
{
	const struct webhookconfig *w = arg;
	const char *secret = secret_path(w);
	const json_t *webhook;
	size_t i;

	if (!w->leading || (w->config.own_ca && !w->bundle))
		return false;
	json_array_foreach(webhooks_of(w->seen), i, webhook) if (lacks_something(w, webhook, secret)) return true;
	return false;
}

static void mend(const struct webhookconfig *w, json_t *webhook, const char *path)
{
	json_t *client_config = json_object_get(webhook, "clientConfig");

	json_object_set_new(json_object_get(client_config, "service"), "path", json_string(path));
	if (w->bundle)
		json_object_set_new(client_config, "caBundle", json_string(w->bundle));
}

/* A merge patch replaces a list as a whole. */
static char *make(void *arg, const char *version, struct err *err)
{
	struct webhookconfig *w = arg;
	json_t *wanted = json_deep_copy(webhooks_of(w->seen)), *webhook, *patch;
	char path[REVIEWPATHS_SIZE], *text;
	const char *has = secret_path(w);
	size_t i;

	(void)err;
	if (has)
		snprintf(path, sizeof path, "%s", has);
	else
		reviewpaths_make(path);
	reviewpaths_expect(&w->paths, path, loop_now_ms(w->loop));
	json_array_foreach(wanted, i, webhook) if (lacks_something(w, webhook, has)) mend(w, webhook, path);
	patch = json_pack("{s:{s:s},s:o}", "metadata", "resourceVersion", version, "webhooks", wanted);
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
	w->looked = true;
	note_paths(w);
}

static void on_written(void *arg, bool created)
{
	const struct webhookconfig *w = arg;

	(void)created;
	log_info(w->title,
		w->bundle ? "set our certificate authority in its caBundle, and a secret path" : "set a secret path");
}

static void on_change(void *arg)
{
	struct webhookconfig *w = arg;

	w->on_change(w->arg);
}

static const struct keeper_policy policy = { on_object, lacks, make, on_written, on_change };

/* ---- Life ---- */

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
		.without =
			"objects may be stored without validation, and anyone who reaches the port may request reviews",
	};

	w->loop = kube_loop(kube);
	w->on_change = on_change_fn;
	w->arg = arg;
	w->config = *config;
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
	free(w->title);
	free(w);
}
