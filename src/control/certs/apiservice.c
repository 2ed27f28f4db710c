/* SPDX-License-Identifier: Apache-2.0 */
#include "control/certs/apiservice.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "config.h"
#include "control/certs/takennote.h"
#include "kube/keeper.h"
#include "net/loop.h"

#define COLLECTION       "/apis/apiregistration.k8s.io/v1/apiservices"
#define SERVICE_AGAIN_MS 30000
#define RELEASE_AGAIN_MS 50  /* how long the watch may take */
#define LOST_MS          200 /* the same after a failed write, which may still be carried out */

struct apiservice {
	struct kube *kube; /* borrowed */
	struct loop *loop; /* borrowed */
	struct keeper *keeper;
	void (*on_change)(void *arg);
	void *arg;
	struct apiservice_config config;
	char *title;

	enum apiservice_points points;
	char *service; /* "namespace/name" that it points to; NULL if it does not exist */
	char *trusted; /* its caBundle, decoded; NULL: none */
	bool insecure; /* insecureSkipTLSVerify */
	char *note;    /* what a take-over notes; NULL if it does not exist */
	bool taken;    /* it carries such a note */
	int64_t since_ms;

	char *bundle; /* wanted caBundle; NULL: left as it is */
	bool leading;

	struct kube_call *call; /* with recreate: the read of our Service, or the release */
	struct loop_timer look; /* reads the Service again, after a failure */
	int port;               /* of the Service; 0: not known yet */
	bool released;
	bool awaits;                     /* the release awaits a write on its way */
	int64_t release_until_ms;        /* loop clock */
	struct loop_timer release_again; /* retries with a newer version; or the end of awaits */
	void (*on_released)(void *arg);
	void *released_arg;
	char trouble[ERR_MSG_MAX]; /* about its content; "": none */
};

/* ---- State ---- */

enum apiservice_points apiservice_points(const struct apiservice *a)
{
	return a->points;
}

bool apiservice_is_known(const struct apiservice *a)
{
	return keeper_is_known(a->keeper);
}

const char *apiservice_foreign(const struct apiservice *a)
{
	return a->points == APISERVICE_TO_OTHERS && !a->config.take_over ? a->service : NULL;
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
	return a->bundle && text_equal(a->bundle, a->trusted) && !a->insecure;
}

const char *apiservice_trouble(const struct apiservice *a)
{
	const char *trouble = keeper_trouble(a->keeper);

	if (trouble)
		return trouble;
	if (a->trouble[0])
		return a->trouble;
	if (a->points == APISERVICE_TO_US && a->bundle && !has_bundle(a))
		return "the caBundle of the APIService is not our certificate authority yet";
	return NULL;
}

/* ---- Errors: each is logged once ---- */

static void set_trouble(struct apiservice *a, const char *text)
{
	if (strcmp(a->trouble, text) == 0)
		return;
	snprintf(a->trouble, sizeof a->trouble, "%s", text);
	if (text[0] && a->config.optional)
		log_info(a->title, "%s", text);
	else if (text[0])
		log_warn(a->title, "%s", text);
}

static void explain(struct apiservice *a)
{
	char text[ERR_MSG_MAX] = "";

	if (a->points == APISERVICE_MISSING && !a->config.recreate)
		snprintf(text, sizeof text,
			"APIService %s does not exist, so requests do not reach %s: kscaled manifests | kubectl apply "
			"-f -",
			a->config.name, a->config.what);
	else if (apiservice_foreign(a))
		snprintf(text, sizeof text,
			"APIService %s points to Service %s, not to %s/%s: it is not touched. When that server is "
			"gone: kscaled manifests | kubectl apply -f -; or run kscaled with --take-over",
			a->config.name, a->service, a->config.namespace_, a->config.service_name);
	set_trouble(a, text);
}

/* ---- Reading ---- */

static void set_trusted(struct apiservice *a, char *trusted, bool insecure)
{
	bool same = a->insecure == insecure && text_equal(trusted, a->trusted);

	free(a->trusted);
	a->trusted = trusted;
	a->insecure = insecure;
	if (!same)
		a->since_ms = loop_now_ms(a->loop);
}

static char *decoded(const json_t *text)
{
	return json_is_string(text) ? base64_decode(json_string_value(text), NULL) : NULL;
}

/* Without a Service the API server itself serves the group: not us either. */
static char *service_of(const json_t *spec)
{
	const json_t *service = json_object_get(spec, "service");

	if (!json_is_object(service))
		return mem_dup("(none)");
	return mem_printf("%s/%s", json_str_or_empty(service, "namespace"), json_str_or_empty(service, "name"));
}

static bool is_ours(const struct apiservice *a, const char *service)
{
	MEM_AUTO char *ours = mem_printf("%s/%s", a->config.namespace_, a->config.service_name);

	return strcmp(service, ours) == 0;
}

/* ---- The keeper's policy ---- */

static void on_object(void *arg, const json_t *object)
{
	struct apiservice *a = arg;
	const json_t *spec = json_object_get(object, "spec");

	free(a->service);
	a->service = object ? service_of(spec) : NULL;
	free(a->note);
	a->note = object ? takennote_make(object) : NULL;
	a->taken = json_object_get(json_metadata(object, "annotations"), TAKENNOTE);
	a->points = !object ? APISERVICE_MISSING : is_ours(a, a->service) ? APISERVICE_TO_US : APISERVICE_TO_OTHERS;
	set_trusted(a, decoded(json_object_get(spec, "caBundle")),
		json_is_true(json_object_get(spec, "insecureSkipTLSVerify")));
	explain(a);
}

static bool is_to_be_taken(const struct apiservice *a)
{
	return a->points == APISERVICE_TO_OTHERS && a->config.take_over;
}

/* It is missing, or points to us but must be recreated. */
static bool is_to_be_created(const struct apiservice *a)
{
	return a->points == APISERVICE_MISSING && a->config.recreate && a->port > 0;
}

static bool lacks(void *arg)
{
	const struct apiservice *a = arg;

	if (!a->leading || a->released || (a->config.own_ca && !a->bundle))
		return false;
	if (is_to_be_created(a))
		return true;
	return is_to_be_taken(a) || (a->points == APISERVICE_TO_US && a->bundle && !has_bundle(a));
}

static json_t *spec_patch(const struct apiservice *a)
{
	json_t *spec = json_object();

	if (is_to_be_taken(a))
		json_object_set_new(spec, "service",
			json_pack("{s:s, s:s, s:i}", "namespace", a->config.namespace_, "name", a->config.service_name,
				"port", a->config.service_port));
	if (a->bundle) {
		char *text = base64_encode(a->bundle, strlen(a->bundle));

		json_object_set_new(spec, "caBundle", json_string(text));
		/* the API allows no other value together with a caBundle */
		json_object_set_new(spec, "insecureSkipTLSVerify", json_false());
		free(text);
	}
	return spec;
}

/* As in src/cli/manifests/apiservice.yaml. The API server never asks without verifying us. */
static char *whole(const struct apiservice *a)
{
	const char *dot = strchr(a->config.name, '.');
	MEM_AUTO char *version = mem_dupn(a->config.name, (size_t)(dot - a->config.name));
	MEM_AUTO char *bundle = a->bundle ? base64_encode(a->bundle, strlen(a->bundle)) : NULL;
	json_t *object = json_pack("{s:s, s:s, s:{s:s, s:{s:s, s:s, s:s}}, s:{s:s, s:s, s:i, s:i, s:{s:s, s:s, s:i}}}",
		"apiVersion", "apiregistration.k8s.io/v1", "kind", "APIService", "metadata", "name", a->config.name,
		"labels", "app.kubernetes.io/name", "kscaled", "app.kubernetes.io/part-of", "kscaled",
		"app.kubernetes.io/version", PACKAGE_VERSION, "spec", "group", dot + 1, "version", version,
		"groupPriorityMinimum", 100, "versionPriority", 100, "service", "namespace", a->config.namespace_,
		"name", a->config.service_name, "port", a->port);
	char *text;

	if (bundle)
		json_object_set_new(json_object_get(object, "spec"), "caBundle", json_string(bundle));
	json_object_set_new(json_object_get(object, "spec"), "insecureSkipTLSVerify", json_false());
	text = json_text(object);
	json_decref(object);
	return text;
}

static char *make(void *arg, const char *version, struct err *err)
{
	const struct apiservice *a = arg;
	json_t *patch;
	char *text;

	(void)err;
	if (!version)
		return whole(a);
	patch = json_pack("{s:{s:s}, s:o}", "metadata", "resourceVersion", version, "spec", spec_patch(a));
	if (is_to_be_taken(a))
		json_object_set_new(json_object_get(patch, "metadata"), "annotations",
			json_pack("{s:s}", TAKENNOTE, a->note));
	text = json_text(patch);
	if (is_to_be_taken(a))
		log_warn(a->title, "taking it over from Service %s (--take-over)", a->service);
	json_decref(patch);
	return text;
}

static void on_written(void *arg, bool created)
{
	const struct apiservice *a = arg;

	if (created)
		log_info(a->title, "was missing; creating it again");
	else if (has_bundle(a))
		log_info(a->title, "our certificate authority is in its caBundle");
}

static void look_at_service(void *arg);
static void follow_release(struct apiservice *a);

static void on_change(void *arg)
{
	struct apiservice *a = arg;

	look_at_service(a);
	follow_release(a);
	if (a->on_change)
		a->on_change(a->arg);
}

static const struct keeper_policy policy = { on_object, lacks, make, on_written, on_change };

/* ---- Release and recreation ---- */

static void on_service(void *arg, const json_t *object, const struct err *err)
{
	struct apiservice *a = arg;
	const json_t *ports = json_object_get(json_object_get(object, "spec"), "ports");

	a->call = NULL;
	a->port = (int)json_integer_value(json_object_get(json_array_get(ports, 0), "port"));
	if (err || a->port <= 0) {
		log_warn(a->title, "is missing, and cannot be created again: Service %s/%s: %s", a->config.namespace_,
			a->config.service_name, err ? err->msg : "has no port");
		loop_timer_set(&a->look, SERVICE_AGAIN_MS);
	}
	keeper_look(a->keeper);
}

static void look_at_service(void *arg)
{
	struct apiservice *a = arg;
	MEM_AUTO char *path = NULL;
	struct kube_request request = { .verb = KUBE_GET, .answer = KUBE_ANSWER_WHOLE };

	if (!a->config.recreate || !a->leading || a->released || a->points != APISERVICE_MISSING || a->port > 0 ||
		a->call || loop_timer_pending(&a->look))
		return;
	request.path = path = mem_printf("/api/v1/namespaces/%s/services/%s", a->config.namespace_,
		a->config.service_name);
	a->call = kube_call(a->kube, &request, on_service, a);
}

static void end_release(struct apiservice *a, const struct err *err)
{
	if (err && err->kind != ERR_MISSING)
		log_warn(a->title, "could not be released: %s", err->msg);
	else
		log_info(a->title, "released: it is created again at the next start");
	a->on_released(a->released_arg);
}

/*
 * The API server itself writes to it, above all after its creation: a conflict is not the end, as
 * the watch brings the next version.
 */
static void on_deleted(void *arg, const json_t *object, const struct err *err)
{
	struct apiservice *a = arg;

	(void)object;
	a->call = NULL;
	if (err && err->kind == ERR_CONFLICT && loop_now_ms(a->loop) + RELEASE_AGAIN_MS < a->release_until_ms)
		loop_timer_set(&a->release_again, RELEASE_AGAIN_MS);
	else
		end_release(a, err);
}

/* The awaited write has not come. */
static void end_awaiting(struct apiservice *a)
{
	bool writing = keeper_is_writing(a->keeper);
	struct err err;

	a->awaits = false;
	err_set(&err, writing ? ERR_TEMPORARY : ERR_MISSING, "a write to it is on its way, and not answered");
	end_release(a, &err);
}

/* Not if it points elsewhere meanwhile. */
static void send_release(void *arg)
{
	struct apiservice *a = arg;
	const char *version = keeper_version(a->keeper);
	MEM_AUTO char *path = mem_printf(COLLECTION "/%s", a->config.name), *body = NULL;
	struct kube_request request = { .verb = KUBE_DELETE,
		.deadline_ms = a->release_until_ms - loop_now_ms(a->loop),
		.answer = KUBE_ANSWER_IGNORED };
	struct err err;

	if (a->awaits) {
		end_awaiting(a);
		return;
	}
	if (a->points != APISERVICE_TO_US || !version) {
		err_set(&err, version ? ERR_CONFLICT : ERR_MISSING, "it points to another Service now");
		end_release(a, &err);
		return;
	}
	body = mem_printf("{\"apiVersion\":\"v1\",\"kind\":\"DeleteOptions\",\"preconditions\":{\"resourceVersion\":\"%"
			  "s\"}}",
		version);
	request.path = path;
	request.body = body;
	a->call = kube_call(a->kube, &request, on_deleted, a);
}

static bool is_to_be_released(const struct apiservice *a)
{
	return a->points == APISERVICE_TO_US && keeper_version(a->keeper) && !a->taken;
}

/* Its state is known, or will not be. In a turn of its own: the keeper is at work. */
static void follow_release(struct apiservice *a)
{
	int64_t left_ms = a->release_until_ms - loop_now_ms(a->loop);

	if (!a->awaits || (!is_to_be_released(a) && keeper_is_writing(a->keeper)))
		return;
	a->awaits = !is_to_be_released(a);
	loop_timer_set(&a->release_again, !a->awaits ? 0 : left_ms < LOST_MS ? left_ms : LOST_MS);
}

bool apiservice_release(struct apiservice *a, int64_t deadline_ms, void (*done)(void *arg), void *arg)
{
	if (!a->config.recreate || !a->leading)
		return false;
	/* Even if it does not exist yet: reading our Service would create it. */
	a->released = true;
	kube_cancel(a->call);
	a->call = NULL;
	loop_timer_cancel(&a->look);
	a->awaits = !is_to_be_released(a) && !a->taken && keeper_is_writing(a->keeper);
	if (!a->awaits && !is_to_be_released(a))
		return false;
	a->release_until_ms = loop_now_ms(a->loop) + deadline_ms;
	a->on_released = done;
	a->released_arg = arg;
	if (a->awaits)
		loop_timer_set(&a->release_again, deadline_ms);
	else
		send_release(a);
	return true;
}

/* ---- Life ---- */

void apiservice_set_leading(struct apiservice *a, bool leading)
{
	a->leading = leading;
	look_at_service(a);
	keeper_look(a->keeper);
}

void apiservice_set_bundle(struct apiservice *a, const char *pem)
{
	if (text_equal(pem, a->bundle))
		return;
	free(a->bundle);
	a->bundle = mem_dup(pem);
	keeper_hurry(a->keeper); /* another of our own CAs is written at once */
}

struct apiservice *apiservice_new(struct kube *kube, const struct apiservice_config *config,
	void (*on_change_fn)(void *arg), void *arg)
{
	struct apiservice *a = mem_zalloc(sizeof *a);
	struct keeper_config kept = { .collection = COLLECTION, .name = config->name, .create_by_apply = true };

	a->kube = kube;
	a->loop = kube_loop(kube);
	loop_timer_init(&a->look, a->loop, look_at_service, a);
	loop_timer_init(&a->release_again, a->loop, send_release, a);
	a->on_change = on_change_fn;
	a->arg = arg;
	a->config = *config;
	kept.title = a->title = mem_printf("APIService %s", config->name);
	a->keeper = keeper_new(kube, &kept, &policy, a);
	return a;
}

void apiservice_free(struct apiservice *a)
{
	if (!a)
		return;
	keeper_free(a->keeper);
	kube_cancel(a->call);
	loop_timer_done(&a->look);
	loop_timer_done(&a->release_again);
	free(a->service);
	free(a->trusted);
	free(a->note);
	free(a->bundle);
	free(a->title);
	free(a);
}
