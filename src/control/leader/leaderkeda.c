/* SPDX-License-Identifier: Apache-2.0 */
#include "control/leader/leaderkeda.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "control/leader/leaderrecord.h"
#include "kube/denial.h"
#include "net/loop.h"

struct leaderkeda {
	struct kube *kube; /* borrowed */
	char *path;
	char *subject;
	struct kube_call *call;
	leaderkeda_fn fn;
	void *arg;
	struct leaderrecord record;
	struct denial denial;
	bool told_denied;
};

struct leaderkeda *leaderkeda_new(struct kube *kube, const char *namespace_)
{
	struct leaderkeda *k = mem_zalloc(sizeof *k);
	MEM_AUTO char *segment = buf_percent(namespace_);

	k->kube = kube;
	k->path = mem_printf("/apis/coordination.k8s.io/v1/namespaces/%s/leases/" LEADERKEDA_LEASE, segment);
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

static void on_read(void *arg, const json_t *object, const struct err *err)
{
	struct leaderkeda *k = arg;
	struct lease lease = { 0 };
	struct err why = { 0 };
	int64_t now_ms = loop_now_ms(kube_loop(k->kube));

	k->call = NULL;
	if (denial_may_pass(&k->denial, err, now_ms)) {
		k->fn(k->arg, LEADERKEDA_UNKNOWN, err);
		return;
	}
	if (err && err->kind == ERR_DENIED && !k->told_denied) {
		k->told_denied = true;
		log_warn(k->subject, "cannot be read, so KEDA is taken to be absent: %s", err->msg);
	}
	if (err && (err->kind == ERR_DENIED || err->kind == ERR_MISSING)) {
		leaderrecord_see(&k->record, NULL, now_ms);
		k->fn(k->arg, LEADERKEDA_ABSENT, NULL);
		return;
	}
	if (err)
		why = *err;
	if (err || lease_decode(object, &lease, &why) != 0) {
		lease_done(&lease);
		err_wrap(&why, "%s", k->subject);
		k->fn(k->arg, LEADERKEDA_UNKNOWN, &why);
		return;
	}
	leaderrecord_see(&k->record, &lease, now_ms);
	k->fn(k->arg, leaderrecord_alive(&k->record, now_ms) ? LEADERKEDA_ACTIVE : LEADERKEDA_ABSENT, NULL);
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

bool leaderkeda_is_asking(const struct leaderkeda *k)
{
	return k->call != NULL;
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
