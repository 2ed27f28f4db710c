/* SPDX-License-Identifier: Apache-2.0 */
#include "control/apiservice.h"

#include <jansson.h>
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

#define COLLECTION "/apis/apiregistration.k8s.io/v1/apiservices"
#define BACKOFF_FIRST_MS 1000
#define BACKOFF_MAX_MS 60000

struct apiservice {
	struct kube *kube; /* borrowed */
	struct loop *loop; /* borrowed */
	void (*on_change)(void *arg);
	void *arg;
	char *name, *namespace_, *service_name, *subject;
	int service_port;
	bool own_ca, take_over;

	struct watch *watch;
	bool listed;         /* since the list began */
	bool denied;         /* we may not look */
	enum apiservice_points points;
	char *version;       /* its resourceVersion */
	char *service;       /* "namespace/name" that it points to; NULL unless it exists */
	char *trusted;       /* its caBundle, decoded; NULL: none */
	bool insecure;       /* insecureSkipTLSVerify */
	int64_t since_ms;

	char *bundle;        /* what caBundle shall hold; NULL: not our business */
	bool leading;
	struct kube_call *call;
	struct loop_timer timer; /* to try the write again */
	unsigned failures;
	struct pace pace;
	bool paced;              /* the timer is set because the last write was undone */

	char trouble[ERR_MSG_MAX];       /* "" when none */
	char write_trouble[ERR_MSG_MAX];
	char told[96];                   /* which trouble in writing was logged last */
};

static void consider(struct apiservice *a);

/* ---- Facts ---- */

enum apiservice_points apiservice_points(const struct apiservice *a)
{
	return a->points;
}

bool apiservice_is_known(const struct apiservice *a)
{
	return a->points != APISERVICE_UNKNOWN || a->denied;
}

const char *apiservice_foreign(const struct apiservice *a)
{
	return a->points == APISERVICE_TO_OTHERS && !a->take_over ? a->service : NULL;
}

bool apiservice_trusts(const struct apiservice *a, const char *ca_pem)
{
	size_t len = strlen(ca_pem);
	MEM_AUTO char *text = mem_dup(ca_pem);

	while (len > 0 && strchr(" \r\n", text[len - 1]))
		text[--len] = '\0';
	return a->insecure || (len > 0 && a->trusted && strstr(a->trusted, text));
}

int64_t apiservice_since_ms(const struct apiservice *a)
{
	return a->since_ms;
}

static bool has_bundle(const struct apiservice *a)
{
	return a->bundle && a->trusted && strcmp(a->bundle, a->trusted) == 0 && !a->insecure;
}

const char *apiservice_trouble(const struct apiservice *a)
{
	if (a->write_trouble[0])
		return a->write_trouble;
	if (a->trouble[0])
		return a->trouble;
	if (a->points == APISERVICE_TO_US && a->bundle && !has_bundle(a))
		return "the caBundle of the APIService is not our certificate authority yet";
	return NULL;
}

/* ---- Troubles: told when they are new ---- */

static void set_trouble(struct apiservice *a, const char *text)
{
	if (strcmp(a->trouble, text) == 0)
		return;
	snprintf(a->trouble, sizeof a->trouble, "%s", text);
	if (text[0])
		log_warn(a->subject, "%s", text);
}

static void end_write_trouble(struct apiservice *a)
{
	a->failures = 0;
	a->write_trouble[0] = '\0';
	a->told[0] = '\0';
}

static void set_write_trouble(struct apiservice *a, const struct err *err)
{
	char told[sizeof a->told];

	snprintf(told, sizeof told, "%s %d", err_kind_name(err->kind), err->http_status);
	snprintf(a->write_trouble, sizeof a->write_trouble, "%s", err->msg);
	if (strcmp(told, a->told) != 0)
		log_warn(a->subject, "%s", err->msg);
	memcpy(a->told, told, sizeof told);
}

static void explain(struct apiservice *a)
{
	char text[ERR_MSG_MAX] = "";

	if (a->points == APISERVICE_MISSING)
		snprintf(text, sizeof text, "APIService %s does not exist, so nobody finds the external metrics: kscaled manifests | kubectl apply -f -", a->name);
	else if (apiservice_foreign(a))
		snprintf(text, sizeof text, "APIService %s points to Service %s, not to %s/%s: it is not touched. When that server is gone: kscaled manifests | kubectl apply -f -; or run kscaled with --take-over",
			a->name, a->service, a->namespace_, a->service_name);
	set_trouble(a, text);
}

/* ---- Looking ---- */

static void set_trusted(struct apiservice *a, char *trusted, bool insecure)
{
	bool same = a->insecure == insecure && (trusted && a->trusted ? strcmp(trusted, a->trusted) == 0 : !trusted && !a->trusted);

	free(a->trusted);
	a->trusted = trusted;
	a->insecure = insecure;
	if (!same)
		a->since_ms = loop_now_ms(a->loop);
}

static void forget(struct apiservice *a)
{
	free(a->version);
	free(a->service);
	a->version = NULL;
	a->service = NULL;
}

static char *decoded(const json_t *text)
{
	return json_is_string(text) ? base64_decode(json_string_value(text), NULL) : NULL;
}

/* Without a Service the API server itself is meant to answer, which is not us either. */
static char *service_of(const json_t *spec)
{
	const json_t *service = json_object_get(spec, "service");

	if (!json_is_object(service))
		return mem_dup("(none)");
	return mem_printf("%s/%s", json_str_or_empty(service, "namespace"), json_str_or_empty(service, "name"));
}

static bool is_ours(const struct apiservice *a, const char *service)
{
	MEM_AUTO char *ours = mem_printf("%s/%s", a->namespace_, a->service_name);

	return strcmp(service, ours) == 0;
}

static void take_in(struct apiservice *a, const json_t *object)
{
	const json_t *spec = json_object_get(object, "spec");
	const char *version = json_str_or_empty(json_object_get(object, "metadata"), "resourceVersion");

	if (a->version && strcmp(version, a->version) == 0)
		return;
	forget(a);
	a->version = mem_dup(version);
	a->service = service_of(spec);
	a->denied = false;
	a->points = is_ours(a, a->service) ? APISERVICE_TO_US : APISERVICE_TO_OTHERS;
	set_trusted(a, decoded(json_object_get(spec, "caBundle")), json_is_true(json_object_get(spec, "insecureSkipTLSVerify")));
	explain(a);
	a->on_change(a->arg);
}

/* ---- Writing ---- */

static bool is_to_be_taken(const struct apiservice *a)
{
	return a->points == APISERVICE_TO_OTHERS && a->take_over;
}

static bool is_to_be_written(const struct apiservice *a)
{
	if (!a->leading || (a->own_ca && !a->bundle))
		return false;
	return is_to_be_taken(a) || (a->points == APISERVICE_TO_US && a->bundle && !has_bundle(a));
}

static json_t *spec_patch(const struct apiservice *a)
{
	json_t *spec = json_object();

	if (is_to_be_taken(a))
		json_object_set_new(spec, "service", json_pack("{s:s, s:s, s:i}", "namespace", a->namespace_, "name", a->service_name, "port", a->service_port));
	if (a->bundle) {
		char *text = base64_encode(a->bundle, strlen(a->bundle));

		json_object_set_new(spec, "caBundle", json_string(text));
		json_object_set_new(spec, "insecureSkipTLSVerify", json_false()); /* the API allows no other value beside a caBundle */
		free(text);
	}
	return spec;
}

static void on_written(void *arg, const json_t *object, const struct err *err)
{
	struct apiservice *a = arg;
	struct err wrapped;

	a->call = NULL;
	if (err) {
		wrapped = *err;
		err_wrap(&wrapped, "writing APIService %s", a->name);
		/* On a conflict the watch brings what somebody else wrote; then again. */
		if (err->kind != ERR_CONFLICT)
			set_write_trouble(a, &wrapped);
		loop_timer_set(&a->timer, loop_backoff_ms(a->failures++, BACKOFF_FIRST_MS, BACKOFF_MAX_MS));
		a->on_change(a->arg);
		return;
	}
	end_write_trouble(a);
	pace_written(&a->pace, loop_now_ms(a->loop));
	take_in(a, object);
	if (has_bundle(a))
		log_info(a->subject, "our certificate authority is in its caBundle");
	consider(a);
}

static void consider(struct apiservice *a)
{
	MEM_AUTO char *path = NULL, *body = NULL;
	struct kube_request request = { .verb = KUBE_MERGE_PATCH };
	json_t *patch;
	int64_t wait_ms;

	if (!is_to_be_written(a)) {
		end_write_trouble(a);
		return;
	}
	if (a->call || ((a->paced || a->write_trouble[0]) && loop_timer_pending(&a->timer)))
		return;
	wait_ms = pace_wait_ms(&a->pace, loop_now_ms(a->loop));
	a->paced = wait_ms > 0;
	if (a->paced) {
		loop_timer_set(&a->timer, wait_ms);
		return;
	}
	if (is_to_be_taken(a))
		log_warn(a->subject, "taking it over from Service %s, as told", a->service);
	patch = json_pack("{s:{s:s}, s:o}", "metadata", "resourceVersion", a->version, "spec", spec_patch(a));
	request.body = body = json_text(patch);
	request.path = path = mem_printf(COLLECTION "/%s?fieldManager=kscaled", a->name);
	a->call = kube_call(a->kube, &request, on_written, a);
	json_decref(patch);
}

static void on_timer(void *arg)
{
	consider(arg);
}

void apiservice_set_leading(struct apiservice *a, bool leading)
{
	if (a->leading == leading)
		return;
	a->leading = leading;
	consider(a);
}

void apiservice_set_bundle(struct apiservice *a, const char *pem)
{
	if (pem && a->bundle ? strcmp(pem, a->bundle) == 0 : pem == a->bundle)
		return;
	free(a->bundle);
	a->bundle = mem_dup(pem);
	a->pace.written_at_ms = 0; /* another one of our own is written at once */
	a->paced = false;
	consider(a);
}

/* ---- The watch ---- */

static void on_list(void *arg)
{
	struct apiservice *a = arg;

	a->listed = false;
}

static void on_object(void *arg, const json_t *object)
{
	struct apiservice *a = arg;

	/* The aggregator's own storage may be asked without the selector being heeded: what is not ours is not looked at. */
	if (strcmp(json_str_or_empty(json_object_get(object, "metadata"), "name"), a->name) != 0)
		return;
	a->listed = true;
	take_in(a, object);
	consider(a);
}

static void on_gone(struct apiservice *a)
{
	forget(a);
	set_trusted(a, NULL, false);
	a->denied = false;
	a->points = APISERVICE_MISSING;
	a->pace.written_at_ms = 0; /* one that is made anew undoes nothing */
	explain(a);
	consider(a);
	a->on_change(a->arg);
}

static void on_deleted(void *arg, const json_t *object)
{
	struct apiservice *a = arg;

	if (strcmp(json_str_or_empty(json_object_get(object, "metadata"), "name"), a->name) == 0)
		on_gone(a);
}

static void on_synced(void *arg)
{
	struct apiservice *a = arg;

	if (!a->listed)
		on_gone(a);
}

/* Whom we may not ask, or who does not know the resource, does not stop us for ever; a failure that may pass leaves what was known. */
static void on_watch_trouble(void *arg, const struct err *err)
{
	struct apiservice *a = arg;
	struct err wrapped;

	if (err) {
		if (a->points == APISERVICE_UNKNOWN && (err->kind == ERR_DENIED || err->kind == ERR_MISSING))
			a->denied = true;
		wrapped = *err;
		err_wrap(&wrapped, "APIService %s cannot be watched", a->name);
		set_trouble(a, wrapped.msg);
	} else {
		log_info(a->subject, "the watch works");
		explain(a);
	}
	a->on_change(a->arg);
}

static void start_watch(struct apiservice *a)
{
	static const struct watch_events events = { on_list, on_object, on_deleted, on_synced, on_watch_trouble };
	MEM_AUTO char *selector = mem_printf("metadata.name=%s", a->name);
	struct watch_config config = { .path = COLLECTION, .field_selector = selector, .subject = a->subject };

	a->watch = watch_start(a->kube, &config, &events, a);
}

struct apiservice *apiservice_new(struct kube *kube, const struct apiservice_config *config, void (*on_change)(void *arg), void *arg)
{
	struct apiservice *a = mem_zalloc(sizeof *a);

	a->kube = kube;
	a->loop = kube_loop(kube);
	a->on_change = on_change;
	a->arg = arg;
	a->name = mem_dup(config->name);
	a->namespace_ = mem_dup(config->namespace_);
	a->service_name = mem_dup(config->service_name);
	a->subject = mem_printf("apiservice %s", config->name);
	a->service_port = config->service_port;
	a->own_ca = config->own_ca;
	a->take_over = config->take_over;
	loop_timer_init(&a->timer, a->loop, on_timer, a);
	start_watch(a);
	return a;
}

void apiservice_free(struct apiservice *a)
{
	if (!a)
		return;
	watch_stop(a->watch);
	kube_cancel(a->call);
	loop_timer_done(&a->timer);
	forget(a);
	free(a->trusted);
	free(a->bundle);
	free(a->name);
	free(a->namespace_);
	free(a->service_name);
	free(a->subject);
	free(a);
}
