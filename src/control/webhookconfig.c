/* SPDX-License-Identifier: Apache-2.0 */
#include "control/webhookconfig.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "control/pace.h"
#include "kube/watch.h"
#include "net/loop.h"

#define COLLECTION "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations"

struct webhookconfig {
	struct kube *kube; /* borrowed */
	struct loop *loop; /* borrowed */
	char *name, *namespace_, *service_name, *subject;
	struct watch *watch;
	bool listed;       /* since the list began */
	json_t *seen;      /* as it was last seen: a few hundred bytes; NULL: it does not exist */
	char *bundle;      /* base64, as caBundle has it; NULL: not known yet */
	bool leading;
	struct kube_call *call;
	struct loop_timer timer; /* to try the write again */
	struct pace pace;
	char told[96];     /* which trouble was logged last; "": none */
};

static void consider(struct webhookconfig *w);

/* ---- What is to be written ---- */

static const char *version_of(const json_t *object)
{
	return json_str_or_empty(json_object_get(object, "metadata"), "resourceVersion");
}

static bool is_ours(const struct webhookconfig *w, const json_t *client_config)
{
	const json_t *service = json_object_get(client_config, "service");

	return strcmp(json_str_or_empty(service, "namespace"), w->namespace_) == 0 && strcmp(json_str_or_empty(service, "name"), w->service_name) == 0;
}

static bool lacks_bundle(const struct webhookconfig *w, const json_t *webhook)
{
	const json_t *client_config = json_object_get(webhook, "clientConfig");

	return is_ours(w, client_config) && strcmp(json_str_or_empty(client_config, "caBundle"), w->bundle) != 0;
}

/* All webhooks with our CA where it belongs; NULL: nothing is missing. A merge patch knows lists only whole. */
static json_t *webhooks_wanted(const struct webhookconfig *w)
{
	json_t *wanted = NULL, *webhook;
	size_t i;

	if (!w->seen || !w->bundle || !w->leading)
		return NULL;
	json_array_foreach(json_object_get(w->seen, "webhooks"), i, webhook)
		if (lacks_bundle(w, webhook))
			break;
	if (i == json_array_size(json_object_get(w->seen, "webhooks")))
		return NULL;
	wanted = json_deep_copy(json_object_get(w->seen, "webhooks"));
	json_array_foreach(wanted, i, webhook)
		if (lacks_bundle(w, webhook))
			json_object_set_new(json_object_get(webhook, "clientConfig"), "caBundle", json_string(w->bundle));
	return wanted;
}

/* ---- Writing ---- */

/* Told when it is new. */
static void tell(struct webhookconfig *w, const char *doing, const struct err *err)
{
	char told[sizeof w->told];

	snprintf(told, sizeof told, "%s %s %d", doing, err_kind_name(err->kind), err->http_status);
	if (strcmp(told, w->told) != 0)
		log_warn(w->subject, "%s: %s: objects are not judged before they are stored", doing, err->msg);
	memcpy(w->told, told, sizeof told);
}

static void see(struct webhookconfig *w, const json_t *object)
{
	if (w->seen && object && strcmp(version_of(w->seen), version_of(object)) == 0)
		return;
	json_decref(w->seen);
	w->seen = json_incref((json_t *)(uintptr_t)object);
	if (!object)
		w->pace.written_at_ms = 0; /* one that is made anew undoes nothing */
}

static void on_written(void *arg, const json_t *object, const struct err *err)
{
	struct webhookconfig *w = arg;

	w->call = NULL;
	if (err) {
		/* On a conflict the watch brings what somebody else wrote; then again. */
		if (err->kind != ERR_CONFLICT)
			tell(w, "writing our certificate authority into it", err);
		loop_timer_set(&w->timer, pace_failed_ms(&w->pace));
		return;
	}
	w->told[0] = '\0';
	pace_written(&w->pace, loop_now_ms(w->loop));
	see(w, object);
	log_info(w->subject, "our certificate authority is in its caBundle");
	consider(w);
}

static void consider(struct webhookconfig *w)
{
	MEM_AUTO char *path = NULL, *body = NULL;
	struct kube_request request = { .verb = KUBE_MERGE_PATCH };
	json_t *wanted, *patch;
	int64_t wait_ms;

	if (w->call || loop_timer_pending(&w->timer) || !(wanted = webhooks_wanted(w)))
		return;
	wait_ms = pace_wait_ms(&w->pace, loop_now_ms(w->loop));
	if (wait_ms > 0) {
		loop_timer_set(&w->timer, wait_ms);
		json_decref(wanted);
		return;
	}
	patch = json_pack("{s:{s:s}, s:o}", "metadata", "resourceVersion", version_of(w->seen), "webhooks", wanted);
	request.body = body = json_text(patch);
	request.path = path = mem_printf(COLLECTION "/%s?fieldManager=kscaled", w->name);
	w->call = kube_call(w->kube, &request, on_written, w);
	json_decref(patch);
}

static void on_timer(void *arg)
{
	consider(arg);
}

void webhookconfig_set_leading(struct webhookconfig *w, bool leading)
{
	w->leading = leading;
	consider(w);
}

void webhookconfig_set_bundle(struct webhookconfig *w, const char *pem)
{
	free(w->bundle);
	w->bundle = base64_encode(pem, strlen(pem));
	consider(w);
}

/* ---- The watch ---- */

static bool is_it(const struct webhookconfig *w, const json_t *object)
{
	return strcmp(json_str_or_empty(json_object_get(object, "metadata"), "name"), w->name) == 0;
}

static void on_list(void *arg)
{
	struct webhookconfig *w = arg;

	w->listed = false;
}

static void on_object(void *arg, const json_t *object)
{
	struct webhookconfig *w = arg;

	if (!is_it(w, object))
		return;
	w->listed = true;
	see(w, object);
	consider(w);
}

static void on_deleted(void *arg, const json_t *object)
{
	struct webhookconfig *w = arg;

	if (is_it(w, object))
		see(w, NULL);
}

static void on_synced(void *arg)
{
	struct webhookconfig *w = arg;

	if (!w->listed)
		see(w, NULL);
}

static void on_watch_trouble(void *arg, const struct err *err)
{
	if (err)
		tell(arg, "watching it", err);
}

static void start_watch(struct webhookconfig *w)
{
	static const struct watch_events events = { on_list, on_object, on_deleted, on_synced, on_watch_trouble };
	MEM_AUTO char *selector = mem_printf("metadata.name=%s", w->name);
	struct watch_config config = { .path = COLLECTION, .field_selector = selector, .subject = w->subject };

	w->watch = watch_start(w->kube, &config, &events, w);
}

struct webhookconfig *webhookconfig_new(struct kube *kube, const struct webhookconfig_config *config)
{
	struct webhookconfig *w = mem_zalloc(sizeof *w);

	w->kube = kube;
	w->loop = kube_loop(kube);
	w->name = mem_dup(config->name);
	w->namespace_ = mem_dup(config->namespace_);
	w->service_name = mem_dup(config->service_name);
	w->subject = mem_printf("webhook configuration %s", config->name);
	loop_timer_init(&w->timer, w->loop, on_timer, w);
	start_watch(w);
	return w;
}

void webhookconfig_free(struct webhookconfig *w)
{
	if (!w)
		return;
	watch_stop(w->watch);
	kube_cancel(w->call);
	loop_timer_done(&w->timer);
	json_decref(w->seen);
	free(w->bundle);
	free(w->name);
	free(w->namespace_);
	free(w->service_name);
	free(w->subject);
	free(w);
}
