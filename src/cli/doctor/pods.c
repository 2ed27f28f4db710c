/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/pods.h"

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/quantity.h"
#include "base/text.h"
#include "cli/plaintext.h"

/* What a Pod takes from its creation until it is ready, and an image to be pulled. */
#define START_MS INT64_C(30000)

/* ---- What is wrong with one ---- */

struct trouble {
	char *mend;    /* owned; NULL */
	char *message; /* owned; NULL: nothing, or it only begins */
};

static const json_t *status_of(const json_t *pod)
{
	const json_t *one, *list = casefile_at(pod, "status.containerStatuses");
	size_t i;

	json_array_foreach(list, i, one)
	{
		if (json_str_is(one, "name", "kscaled"))
			return one;
	}
	return json_array_get(list, 0);
}

/* "scaling/kscaled-5c8": for commands, "-n scaling ... kscaled-5c8". */
static char *about(const struct casefile *c, const char *command, const json_t *pod)
{
	return mem_printf("kubectl -n %s %s %s", c->setup->namespace_, command, casefile_name_of(pod));
}

/*
 * The last line that it said, as terminationMessagePolicy FallbackToLogsOnError keeps it; before
 * the one with which main.c ends where an option is wrong.
 */
static char *last_words(const json_t *ended)
{
	MEM_AUTO char *text = mem_dup(json_str_or_empty(ended, "message"));
	char *all = text_trim(text, " \r\n"), *end = strrchr(all, '\n');

	if (end && strstr(end, "shows the options")) {
		*end = '\0';
		end = strrchr(all, '\n');
	}
	return *all ? mem_printf(": %.300s", end ? end + 1 : all) : mem_dup("");
}

/* Twice the limit of before, with the requests: Helm's value replaces the chart's whole block. */
static char *more_memory(const struct casefile *c, const json_t *container)
{
	const json_t *resources = json_object_get(container, "resources"),
		     *requests = casefile_at(resources, "requests");
	const char *limit = casefile_text_at(resources, "limits.memory");
	struct buf values = BUF_INIT(SIZE_MAX);
	struct quantity q;
	long long mib = 192;
	const char *key;
	json_t *value;
	char *mend;

	if (*limit && quantity_parse(limit, &q, NULL) == 0)
		mib = (long long)(2 * (q.milli / 1000) / (1 << 20));
	mib = mib < 32 ? 32 : mib;
	if (c->setup->maker != DOCTOR_HELM)
		return mem_printf("kubectl -n %s set resources deployment kscaled -c kscaled --limits memory=%lldMi",
			c->setup->namespace_, mib);
	buf_printf(&values, "resources.operator.limits.memory=%lldMi", mib);
	json_object_foreach((json_t *)(uintptr_t)requests, key, value)
		buf_printf(&values, ",resources.operator.requests.%s=%s", key, json_string_value(value));
	mend = casefile_apply_with(c, buf_text(&values), "");
	buf_done(&values);
	return mend;
}

/* The image from a registry: what is behind the last slash of the one that cannot be had. */
static char *other_image(const struct casefile *c, const char *image)
{
	const char *name = strrchr(image, '/') ? strrchr(image, '/') + 1 : image;
	MEM_AUTO char *options = mem_printf("REGISTRY/%s", name);
	struct buf out = BUF_INIT(SIZE_MAX);
	char *mend;

	buf_puts(&out, "--image ");
	plaintext_put_word(&out, options);
	mend = casefile_apply_with(c, "image.registry=REGISTRY", buf_text(&out));
	buf_done(&out);
	return mend;
}

static bool is_about_image(const char *reason)
{
	static const char *const reasons[] = { "ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull",
		"InvalidImageName", "ImageInspectError", "RegistryUnavailable", NULL };

	return text_is_one_of(reason, reasons);
}

static void judge_waiting(const struct casefile *c, const json_t *pod, const json_t *status, struct trouble *t)
{
	const json_t *waiting = casefile_at(status, "state.waiting"),
		     *ended = casefile_at(status, "lastState.terminated");
	const char *reason = json_str_or_empty(waiting, "reason"), *image = json_str_or_empty(status, "image"),
		   *message = json_str_or_empty(waiting, "message");
	MEM_AUTO char *words = last_words(ended);

	if (is_about_image(reason)) {
		t->message =
			mem_printf("cannot get its image %s on node %s: %s%s%.300s: it must be on that node, or in "
				   "a registry that it reaches",
				image, casefile_text_at(pod, "spec.nodeName"), reason, *message ? ": " : "", message);
		t->mend = other_image(c, image);
	} else if (json_str_is(ended, "reason", "OOMKilled")) {
		t->message = mem_printf("was killed for memory (OOMKilled), %d times so far: its limit is %s",
			(int)json_integer_value(json_object_get(status, "restartCount")),
			casefile_text_at(casefile_container(casefile_object(c, "deployment")),
				"resources.limits.memory"));
		t->mend = more_memory(c, casefile_container(casefile_object(c, "deployment")));
	} else if (ended) {
		t->message = mem_printf("ends again and again (%s, %d times so far, exit status %d)%s", reason,
			(int)json_integer_value(json_object_get(status, "restartCount")),
			(int)json_integer_value(json_object_get(ended, "exitCode")), words);
		t->mend = about(c, "logs --previous", pod);
	} else if (*reason && strcmp(reason, "ContainerCreating") != 0 && strcmp(reason, "PodInitializing") != 0) {
		t->message = mem_printf("cannot be started: %s%s%.300s", reason, *message ? ": " : "", message);
		t->mend = about(c, "describe pod", pod);
	}
}

/* Not yet on a node, or nothing is told of its container. */
static void judge_pending(const struct casefile *c, const json_t *pod, int64_t age_ms, struct trouble *t)
{
	const json_t *scheduled = casefile_condition(pod, "PodScheduled");

	if (json_str_is(scheduled, "status", "False"))
		t->message = mem_printf("has no node: %s: %.300s", json_str_or_empty(scheduled, "reason"),
			json_str_or_empty(scheduled, "message"));
	else if (age_ms > START_MS && !*casefile_text_at(pod, "spec.nodeName"))
		t->message = mem_dup("has no node, and nobody says why: is kube-scheduler running?");
	else if (age_ms > START_MS)
		t->message = mem_printf("has been starting for %lld seconds on node %s", (long long)age_ms / 1000,
			casefile_text_at(pod, "spec.nodeName"));
	if (json_str_is(scheduled, "status", "False"))
		t->mend = mem_dup("kubectl describe nodes"); /* what each has left, and whom it takes */
	else if (t->message)
		t->mend = about(c, "describe pod", pod);
}

static void judge_pod(const struct casefile *c, const json_t *pod, struct trouble *t)
{
	const json_t *status = status_of(pod), *ended = casefile_at(status, "state.terminated");
	const char *phase = casefile_text_at(pod, "status.phase");
	int64_t age_ms = c->now_ms - casefile_time_at(pod, "metadata.creationTimestamp");
	MEM_AUTO char *words = last_words(ended);

	if (strcmp(phase, "Failed") == 0 && *casefile_text_at(pod, "status.reason")) {
		t->message = mem_printf("was ended: %s: %.300s", casefile_text_at(pod, "status.reason"),
			casefile_text_at(pod, "status.message"));
		t->mend = about(c, "describe pod", pod);
	} else if (json_str_is(ended, "reason", "OOMKilled")) {
		t->message = mem_printf("was killed for memory (OOMKilled): its limit is %s",
			casefile_text_at(casefile_container(casefile_object(c, "deployment")),
				"resources.limits.memory"));
		t->mend = more_memory(c, casefile_container(casefile_object(c, "deployment")));
	} else if (ended) {
		t->message = mem_printf("has ended (exit status %d)%s",
			(int)json_integer_value(json_object_get(ended, "exitCode")), words);
		t->mend = about(c, "logs", pod);
	} else if (casefile_at(status, "state.waiting")) {
		judge_waiting(c, pod, status, t);
	}
	if (!t->message && !casefile_at(status, "state.running"))
		judge_pending(c, pod, age_ms, t);
	if (!t->message && casefile_at(status, "state.running") && age_ms > START_MS) {
		t->message = mem_printf("runs, but is not ready%s%.300s",
			*casefile_text_at(casefile_condition(pod, "Ready"), "message") ? ": " : "",
			casefile_text_at(casefile_condition(pod, "Ready"), "message"));
		t->mend = about(c, "logs", pod);
	}
}

/* ---- All of them ---- */

static bool is_ready(const json_t *pod)
{
	return json_str_is(casefile_condition(pod, "Ready"), "status", "True");
}

/* No Pod is made: the quota, the Pod security, an account that is not there. */
static void judge_none(const struct casefile *c, const json_t *deployment)
{
	const json_t *failure = casefile_condition(deployment, "ReplicaFailure");
	const char *ns = c->setup->namespace_, *account = c->setup->account ? c->setup->account : "kscaled";
	const char *message = json_str_or_empty(failure, "message");

	if (json_integer_value(casefile_at(deployment, "spec.replicas")) == 0)
		casefile_wrong(c, mem_printf("kubectl -n %s scale deployment kscaled --replicas 1", ns),
			"Deployment %s/kscaled has 0 replicas: kscaled is stopped", ns);
	else if (strstr(message, "serviceaccount"))
		casefile_wrong(c, casefile_apply(c), "no Pod can be made: ServiceAccount %s/%s: %.300s", ns, account,
			message);
	else
		casefile_wrong(c,
			mem_printf("kubectl -n %s describe replicasets -l app.kubernetes.io/name=kscaled --show-events",
				ns),
			"Deployment %s/kscaled has no Pod%s%.300s", ns, *message ? ": " : "", message);
}

/* While one is ready the others hold nothing up. */
static void judge_others(const struct casefile *c, const json_t *pods, size_t ready)
{
	const json_t *pod;
	size_t i, starting = 0, told = 0;

	json_array_foreach(pods, i, pod)
	{
		struct trouble t = { NULL, NULL };

		if (is_ready(pod) || *casefile_text_at(pod, "metadata.deletionTimestamp"))
			continue;
		judge_pod(c, pod, &t);
		starting += !t.message;
		told += t.message != NULL;
		if (t.message && ready > 0)
			casefile_warn(c, t.mend, "Pod %s %s", casefile_name_of(pod), t.message);
		else if (t.message)
			casefile_wrong(c, t.mend, "Pod %s %s", casefile_name_of(pod), t.message);
		mem_free_ptr(&t.message);
	}
	if (ready == 0 && told == 0 && starting > 0)
		casefile_wrong(c, NULL, "%zu Pods are starting, and none is ready yet: look again in a while",
			starting);
}

void pods_judge(const struct casefile *c)
{
	const json_t *deployment = casefile_object(c, "deployment"), *pods, *pod;
	size_t i, ready = 0, alive = 0;
	bool told;

	if (!deployment) {
		casefile_fine(c, "none are looked at: no Deployment kscaled is known in namespace %s",
			c->setup->namespace_);
		return;
	}
	pods = json_object_get(casefile_read(c, "pods", &told), "items");
	if (told)
		return;
	json_array_foreach(pods, i, pod)
	{
		alive += !*casefile_text_at(pod, "metadata.deletionTimestamp");
		ready += is_ready(pod) && !*casefile_text_at(pod, "metadata.deletionTimestamp");
	}
	if (alive == 0)
		judge_none(c, deployment);
	else
		judge_others(c, pods, ready);
	if (ready > 0)
		casefile_fine(c, "%zu of %zu ready", ready, alive);
}
