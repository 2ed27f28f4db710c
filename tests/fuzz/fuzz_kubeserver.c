/* SPDX-License-Identifier: Apache-2.0 */

/*
 * An API server from its first byte, or whoever stands between: what it says to a call, to a watch,
 * to reviews of tokens and rights, to a request for a token, about Pods and about kinds. The first
 * byte chooses which, the second is the size of the pieces.
 */

#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "cache/auth/holders.h"
#include "cache/auth/satokens.h"
#include "cache/objects/jobpods.h"
#include "cache/objects/kinds.h"
#include "fuzz.h"
#include "kube/client.h"
#include "kube/reviews.h"
#include "kube/watch.h"
#include "peer.h"

/* What fails is tried again after half a second, which is not waited for. */
#define PATIENCE_MS 8
#define DEADLINE_MS 5

static void check_err(const struct err *err)
{
	must(err->kind != ERR_NONE && err->kind != ERR_BUG && err->msg[0] != '\0');
}

/* ---- A call ---- */

static void on_answer(void *arg, const json_t *object, const struct err *err)
{
	bool *done = arg;

	must(!*done && !(object && err));
	*done = true;
	if (err)
		check_err(err);
}

static void call(struct kube *kube, enum kube_answer answer)
{
	struct kube_request request = { .verb = KUBE_GET,
		.path = "/api/v1/namespaces/shop/pods",
		.deadline_ms = DEADLINE_MS,
		.priority = KUBE_NORMAL,
		.answer = answer };
	bool done = false;
	struct kube_call *c = kube_call(kube, &request, on_answer, &done);

	peer_until(&done);
	if (!done)
		kube_cancel(c);
}

static void try_call(struct kube *kube)
{
	call(kube, KUBE_ANSWER_STRIPPED);
}

static void try_whole(struct kube *kube)
{
	call(kube, KUBE_ANSWER_WHOLE);
}

/* ---- A watch ---- */

static void on_mark(void *arg)
{
	(void)arg;
}

static void on_object(void *arg, const json_t *object)
{
	(void)arg;
	must(json_is_object(object));
}

static void on_trouble(void *arg, const struct err *err)
{
	(void)arg;
	if (err)
		check_err(err);
}

static bool on_text(void *arg, const struct objecttext *text)
{
	(void)arg;
	must(text->json);
	return false;
}

static void try_watch(struct kube *kube)
{
	static const struct watch_events events = { .on_list = on_mark,
		.on_object = on_object,
		.on_deleted = on_object,
		.on_synced = on_mark,
		.on_trouble = on_trouble,
		.on_text = on_text };
	static const struct watch_config config = { .path = "/api/v1/pods", .subject = "pods", .page = 2 };
	struct watch *w = watch_start(kube, &config, &events, NULL);
	bool done = false;

	peer_until(&done);
	must(watch_version(w));
	watch_stop(w);
}

/* ---- Reviews ---- */

static void on_user(void *arg, const struct review_user *user, const struct err *err)
{
	bool *done = arg;

	must(!*done && !(user && err));
	*done = true;
	must(!user || (user->name && *user->name != '\0' && user->group_count <= REVIEW_GROUPS_MAX));
	if (err)
		check_err(err);
}

static void on_access(void *arg, bool allowed, const char *reason, const struct err *err)
{
	bool *done = arg;

	(void)reason;
	must(!*done && !(allowed && err));
	*done = true;
	if (err)
		check_err(err);
}

static void try_token_review(struct kube *kube)
{
	bool done = false;
	struct kube_call *c = review_token(kube, "t0ken-of-ours", on_user, &done);

	peer_until(&done);
	if (!done)
		kube_cancel(c);
}

static void try_access_review(struct kube *kube)
{
	char name[] = "mia";
	const struct review_user user = { .name = name };
	const struct review_access access = { .verb = "get", .path = "/metrics" };
	bool done = false;
	struct kube_call *c = review_access(kube, &user, &access, on_access, &done);

	peer_until(&done);
	if (!done)
		kube_cancel(c);
}

/* ---- Tokens, Pods, kinds ---- */

static void try_satoken(struct kube *kube)
{
	char namespace_[] = "shop", name[] = "web";
	const struct meta meta = { .namespace_ = namespace_, .name = name, .uid = name };
	const struct scaled scaled = { .kind = SCALED_OBJECT, .meta = &meta };
	struct object *owner = object_new(&scaled, "");
	struct satokens *tokens = satokens_new(kube, 600000);
	const char *token = NULL;
	struct err err = { 0 };
	bool done = false;

	for (size_t i = 0; i < 2; i++) {
		enum reference_state state;

		holdings_begin(owner);
		state = satokens_get(tokens, owner, "shop", "worker", i ? NULL : "vault", &token, &err);
		holdings_end(owner);
		must(state != REFERENCE_FOUND || (token && *token != '\0'));
		must(state == REFERENCE_FOUND || err.msg[0] != '\0');
		if (i == 0)
			peer_until(&done);
	}
	peer_until(&done);
	holdings_release(owner);
	satokens_free(tokens);
	object_unref(owner);
}

static void on_pending(void *arg, const char *const *pending, size_t count, const struct err *err)
{
	bool *done = arg;

	must(!*done && count <= 2);
	*done = true;
	for (size_t i = 0; i < count; i++)
		must(strncmp(pending[i], "job-", 4) == 0);
	if (err)
		check_err(err);
}

static void try_jobpods(struct kube *kube)
{
	static const char *const jobs[] = { "job-a", "job-b" };
	static const char *const conditions[] = { "Ready" };
	const struct jobpods_request request = { .namespace_ = "shop",
		.jobs = jobs,
		.job_count = 2,
		.conditions = conditions,
		.condition_count = 1,
		.deadline_ms = DEADLINE_MS };
	bool done = false;
	struct jobpods *p = jobpods_ask(kube, &request, on_pending, &done);

	peer_until(&done);
	if (!done)
		jobpods_cancel(p);
}

static void try_kinds(struct kube *kube)
{
	struct kinds *kinds = kinds_new(kube);
	struct kind kind;
	struct err err = { 0 };
	bool done = false, wrong = false;

	for (size_t i = 0; i < 2; i++) {
		enum kind_state state = kinds_get(kinds, "shop", "argoproj.io", "v1alpha1", "Rollout", &kind, &wrong,
			&err);

		must(state != KIND_PRESENT || (kind.resource[0] != '\0' && !strpbrk(kind.resource, "/?%")));
		must(state == KIND_PRESENT || err.msg[0] != '\0');
		peer_until(&done);
	}
	kinds_free(kinds);
}

/* ---- One input ---- */

static struct loop *start(void)
{
	peer_hurry(PATIENCE_MS);
	return peer_start(PEER_LISTENS);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static void (*const tries[])(struct kube * kube) = { try_call, try_whole, try_watch, try_token_review,
		try_access_review, try_satoken, try_jobpods, try_kinds };
	static struct loop *loop;
	struct kube_config config = { 0 };
	struct kube *kube;

	if (!loop)
		loop = start();
	if (size < 2)
		return 0;
	config.server = mem_printf("http://127.0.0.1:%u", peer_port());
	config.token = mem_dup("t0ken-of-ours");
	config.source = mem_dup("fuzz");
	kube = kube_new(loop, &config, NULL, NULL);
	must(kube);
	peer_script(data + 2, size - 2, data[1]);
	tries[data[0] % MEM_COUNT(tries)](kube);
	kube_free(kube);
	peer_end();
	kube_config_done(&config);
	return 0;
}
