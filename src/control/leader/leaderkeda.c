/* SPDX-License-Identifier: Apache-2.0 */
#include "control/leader/leaderkeda.h"

#include <stdlib.h>
#include <string.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "control/leader/leaderrecord.h"
#include "net/loop.h"

struct leaderkeda {
	struct kube *kube; /* borrowed */
	char *path;
	char *subject;
	struct kube_call *call;
	leaderkeda_fn fn;
	void *arg;
	struct leaderrecord record;
	bool told_denied;
};

struct leaderkeda *leaderkeda_new(struct kube *kube, const char *namespace_)
{
	struct leaderkeda *k = mem_zalloc(sizeof *k);
	size_t size = 3 * strlen(namespace_) + 1;
	MEM_AUTO char *segment = mem_alloc(size);

	k->kube = kube;
	k->path = mem_printf("/apis/coordination.k8s.io/v1/namespaces/%s/leases/" LEADERKEDA_LEASE,
		kube_escape(namespace_, segment, size));
	k->subject = mem_printf("lease %s/" LEADERKEDA_LEASE, namespace_);
	return k;
}

void leaderkeda_free(struct leaderkeda *k)
{
	if (!k)
		return;
	kube_cancel(k->call);
	leaderrecord_done(&k->record);
	free(k->path);
	free(k->subject);
	free(k);
}

static void tell_denied_once(struct leaderkeda *k, const struct err *err)
{
	if (k->told_denied)
		return;
	k->told_denied = true;
	log_warn(k->subject, "cannot be read, so KEDA is taken to be absent: %s", err->msg);
}

static enum leaderkeda_verdict verdict_of(struct leaderkeda *k, const json_t *object, const struct err *err,
	struct err *why)
{
	struct lease lease = { 0 };
	int64_t now_ms = loop_now_ms(kube_loop(k->kube));

	err_clear(why);
	if (err && err->kind == ERR_DENIED)
		tell_denied_once(k, err);
	if (err && (err->kind == ERR_DENIED || err->kind == ERR_MISSING)) {
		leaderrecord_see(&k->record, NULL, now_ms);
		return LEADERKEDA_ABSENT;
	}
	if (err) {
		*why = *err;
		return LEADERKEDA_UNKNOWN;
	}
	if (lease_decode(object, &lease, why) != 0) {
		lease_done(&lease);
		return LEADERKEDA_UNKNOWN;
	}
	leaderrecord_see(&k->record, &lease, now_ms);
	return leaderrecord_alive(&k->record, now_ms, timestamp_now_ms()) ? LEADERKEDA_ACTIVE : LEADERKEDA_ABSENT;
}

static void on_read(void *arg, const json_t *object, const struct err *err)
{
	struct leaderkeda *k = arg;
	struct err why;
	enum leaderkeda_verdict verdict;

	k->call = NULL;
	verdict = verdict_of(k, object, err, &why);
	if (verdict == LEADERKEDA_UNKNOWN)
		err_wrap(&why, "%s", k->subject);
	k->fn(k->arg, verdict, verdict == LEADERKEDA_UNKNOWN ? &why : NULL);
}

void leaderkeda_ask(struct leaderkeda *k, int64_t deadline_ms, leaderkeda_fn fn, void *arg)
{
	struct kube_request request = { .verb = KUBE_GET,
		.path = k->path,
		.deadline_ms = deadline_ms,
		.priority = KUBE_URGENT };

	leaderkeda_cancel(k);
	k->fn = fn;
	k->arg = arg;
	k->call = kube_call(k->kube, &request, on_read, k);
}

void leaderkeda_cancel(struct leaderkeda *k)
{
	kube_cancel(k->call);
	k->call = NULL;
}

const char *leaderkeda_holder(const struct leaderkeda *k)
{
	return k->record.lease.holder ? k->record.lease.holder : "";
}
