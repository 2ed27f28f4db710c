/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/checks.h"

#include <stdarg.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/quantity.h"
#include "base/text.h"
#include "cli/plaintext.h"

/* Time for a new Pod to pull its image and become ready. */
#define START_MS INT64_C(30000)

/* ---- One Pod ---- */

struct trouble {
	char *mend;    /* owned; NULL */
	char *message; /* owned; NULL: none, or still starting */
};

/* Takes mend. */
static void __attribute__((format(printf, 3, 4))) report(struct trouble *t, char *mend, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	*t = (struct trouble){ mend, mem_vprintf(fmt, ap) };
	va_end(ap);
}

static const json_t *status_of(const json_t *pod)
{
	const json_t *list = fields_at(pod, "status.containerStatuses"), *own = fields_entry(list, "name", "kscaled");

	return own ? own : json_array_get(list, 0);
}

/* "kubectl -n scaling logs kscaled-5c8" */
static char *about(const struct facts *c, const char *command, const json_t *pod)
{
	return mem_printf("kubectl -n %s %s %s", c->namespace_, command, fields_name(pod));
}

/*
 * The last line of its log, kept by terminationMessagePolicy FallbackToLogsOnError; but not the
 * hint that main.c prints after an option's error.
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

/*
 * Doubles the limit. Repeats the requests, because Helm's value replaces the chart's whole block.
 */
static char *more_memory(const struct facts *c, const json_t *container)
{
	const json_t *resources = json_object_get(container, "resources"), *requests = fields_at(resources, "requests");
	const char *limit = fields_text(resources, "limits.memory");
	struct buf values = BUF_INIT(SIZE_MAX);
	struct quantity q;
	long long mib = 192;
	const char *key;
	json_t *value;
	char *mend;

	if (*limit && quantity_parse(limit, &q, NULL) == 0)
		mib = (long long)(2 * (q.milli / 1000) / (1 << 20));
	mib = mib < 32 ? 32 : mib;
	if (c->setup->installer != DOCTOR_HELM)
		return mem_printf("kubectl -n %s set resources deployment kscaled -c kscaled --limits memory=%lldMi",
			c->namespace_, mib);
	buf_printf(&values, "resources.operator.limits.memory=%lldMi", mib);
	json_object_foreach((json_t *)(uintptr_t)requests, key, value)
		buf_printf(&values, ",resources.operator.requests.%s=%s", key, json_string_value(value));
	mend = facts_apply_with(c, buf_text(&values), "");
	buf_done(&values);
	return mend;
}

/* The same image name in the user's registry. */
static char *other_image(const struct facts *c, const char *image)
{
	const char *name = strrchr(image, '/') ? strrchr(image, '/') + 1 : image;
	MEM_AUTO char *options = mem_printf("REGISTRY/%s", name);
	struct buf out = BUF_INIT(SIZE_MAX);
	char *mend;

	buf_puts(&out, "--image ");
	plaintext_put_word(&out, options);
	mend = facts_apply_with(c, "image.registry=REGISTRY", buf_text(&out));
	buf_done(&out);
	return mend;
}

static bool is_about_image(const char *reason)
{
	static const char *const reasons[] = { "ErrImagePull", "ImagePullBackOff", "ErrImageNeverPull",
		"InvalidImageName", "ImageInspectError", "RegistryUnavailable", NULL };

	return text_is_one_of(reason, reasons);
}

/* Not scheduled yet, or its container has no status. */
static void check_pending(const struct facts *c, const json_t *pod, int64_t age_ms, struct trouble *t)
{
	const json_t *scheduled = fields_condition(pod, "PodScheduled");
	const char *node = fields_text(pod, "spec.nodeName");

	if (json_str_is(scheduled, "status", "False")) /* nodes show free resources and taints */
		report(t, mem_dup("kubectl describe nodes"), "has no node: %s: %.300s",
			json_str_or_empty(scheduled, "reason"), json_str_or_empty(scheduled, "message"));
	else if (age_ms > START_MS && !*node)
		report(t, about(c, "describe pod", pod),
			"has no node and no reason is given: is kube-scheduler running?");
	else if (age_ms > START_MS)
		report(t, about(c, "describe pod", pod), "has been starting for %lld seconds on node %s",
			(long long)age_ms / 1000, node);
}

/* The container waits to be started, or again; or it has ended. */
static void check_container(const struct facts *c, const json_t *pod, const json_t *status, struct trouble *t)
{
	const json_t *waiting = fields_at(status, "state.waiting"),
		     *ended = fields_at(status, waiting ? "lastState.terminated" : "state.terminated");
	const char *reason = json_str_or_empty(waiting, "reason"), *image = json_str_or_empty(status, "image"),
		   *message = json_str_or_empty(waiting, "message");
	int restarts = (int)fields_number(status, "restartCount"), exit_status = (int)fields_number(ended, "exitCode");
	MEM_AUTO char *words = last_words(ended),
		      *so_far = waiting ? mem_printf(", %d restarts so far", restarts) : mem_dup("");

	if (is_about_image(reason)) {
		report(t, other_image(c, image),
			"cannot get its image %s on node %s: %s%s%.300s: the image must be on that "
			"node or in a registry that it reaches",
			image, fields_text(pod, "spec.nodeName"), reason, *message ? ": " : "", message);
	} else if (json_str_is(ended, "reason", "OOMKilled")) {
		report(t, more_memory(c, facts_container(c->facts)), "ran out of memory (OOMKilled)%s: its limit is %s",
			so_far, fields_text(facts_container(c->facts), "resources.limits.memory"));
	} else if (ended && waiting) {
		report(t, about(c, "logs --previous", pod), "keeps exiting (%s%s, exit status %d)%s", reason, so_far,
			exit_status, words);
	} else if (ended) {
		report(t, about(c, "logs", pod), "exited (exit status %d)%s", exit_status, words);
	} else if (*reason && strcmp(reason, "ContainerCreating") != 0 && strcmp(reason, "PodInitializing") != 0) {
		report(t, about(c, "describe pod", pod), "cannot be started: %s%s%.300s", reason, *message ? ": " : "",
			message);
	}
}

static void check_pod(const struct facts *c, const json_t *pod, struct trouble *t)
{
	const json_t *status = status_of(pod);
	const char *reason = fields_text(pod, "status.reason"),
		   *unready = json_str_or_empty(fields_condition(pod, "Ready"), "message");
	int64_t age_ms = c->now_ms - fields_time(pod, "metadata.creationTimestamp");
	bool running = fields_at(status, "state.running");

	if (fields_is(pod, "status.phase", "Failed") && *reason) {
		report(t, about(c, "describe pod", pod), "failed: %s: %.300s", reason,
			fields_text(pod, "status.message"));
	} else {
		check_container(c, pod, status, t);
	}
	if (!t->message && !running)
		check_pending(c, pod, age_ms, t);
	if (!t->message && running && age_ms > START_MS) {
		report(t, about(c, "logs", pod), "runs, but is not ready%s%.300s", *unready ? ": " : "", unready);
	}
}

/* ---- All of them ---- */

static bool is_ready(const json_t *pod)
{
	return fields_has_condition(pod, "Ready");
}

/* No Pod is created: quota, Pod security, missing service account. */
static void check_none(const struct facts *c, const json_t *deployment)
{
	const json_t *failure = fields_condition(deployment, "ReplicaFailure");
	const char *ns = c->namespace_, *account = c->account;
	const char *message = json_str_or_empty(failure, "message");

	if (fields_number(deployment, "spec.replicas") == 0)
		facts_error(c, mem_printf("kubectl -n %s scale deployment kscaled --replicas 1", ns),
			"Deployment %s/kscaled has 0 replicas: kscaled is stopped", ns);
	else if (strstr(message, "serviceaccount"))
		facts_error(c, facts_apply(c), "no Pod can be created: ServiceAccount %s/%s: %.300s", ns, account,
			message);
	else
		facts_error(c,
			mem_printf("kubectl -n %s describe replicasets -l app.kubernetes.io/name=kscaled --show-events",
				ns),
			"Deployment %s/kscaled has no Pod%s%.300s", ns, *message ? ": " : "", message);
}

/* With one Pod ready, problems of the others are warnings. */
static void check_others(const struct facts *c, const json_t *pods, size_t ready)
{
	const json_t *pod;
	size_t i, starting = 0, reported = 0;

	json_array_foreach(pods, i, pod)
	{
		struct trouble t = { NULL, NULL };

		if (is_ready(pod) || *fields_text(pod, "metadata.deletionTimestamp"))
			continue;
		check_pod(c, pod, &t);
		starting += !t.message;
		reported += t.message != NULL;
		if (t.message && ready > 0)
			facts_warn(c, t.mend, "Pod %s %s", fields_name(pod), t.message);
		else if (t.message)
			facts_error(c, t.mend, "Pod %s %s", fields_name(pod), t.message);
		mem_free_ptr(&t.message);
	}
	if (ready == 0 && reported == 0 && starting > 0)
		facts_error(c, NULL, "%zu Pods are starting, none is ready yet: try again in a while", starting);
}

void pods_check(const struct facts *c)
{
	const json_t *deployment = facts_object(c, "deployment"), *pods = fields_at(c->facts, "pods.object.items"),
		     *pod;
	size_t i, ready = 0, alive = 0;

	if (!deployment) {
		facts_ok(c, "none checked: no Deployment kscaled is known in namespace %s", c->namespace_);
		return;
	}
	if (!facts_known(c, "pods"))
		return;
	json_array_foreach(pods, i, pod)
	{
		alive += !*fields_text(pod, "metadata.deletionTimestamp");
		ready += is_ready(pod) && !*fields_text(pod, "metadata.deletionTimestamp");
	}
	if (alive == 0)
		check_none(c, deployment);
	else
		check_others(c, pods, ready);
	if (ready > 0)
		facts_ok(c, "%zu of %zu ready", ready, alive);
}
