/* SPDX-License-Identifier: Apache-2.0 */

/*
 * All that our ports answer, over the real HTTP server: paths, selectors, tokens, headers that name
 * a user, AdmissionReviews. The first byte chooses the port and what the API server and the sources
 * say when they are asked, the second is the size of the pieces. Whoever is not known gets nothing.
 */

#include <string.h>

#include "../unit/serve/fake_admit.h"
#include "../unit/serve/fake_cache.h"
#include "../unit/serve/fake_kube.h"
#include "../unit/serve/fake_serve.h"
#include "caller.h"
#include "fuzz.h"
#include "net/tls/x509.h"
#include "serve/access/frontproxy.h"
#include "serve/request.h"

#define HURRIED 128 /* in the first byte */

static struct {
	struct kube *kube;
	struct fake_cache *cache;
	struct serve serve;
	struct httpd *httpd;
	struct frontproxy_memo memo;
	unsigned manner;
} room;

/* What the front proxy would say of the user, twice: the second time from memory. */
static void name_user(struct httpd_request *r)
{
	struct err err = { 0 };
	struct requester *first = frontproxy_user(room.serve.frontproxy, r, &room.memo, &err), *again;

	must(first || (err.kind == ERR_DENIED && err.msg[0] != '\0'));
	again = frontproxy_user(room.serve.frontproxy, r, &room.memo, &err);
	must(!first == !again && (!first || strcmp(first->user.name, again->user.name) == 0));
	requester_unref(first);
	requester_unref(again);
}

static void on_request(void *arg, struct httpd_request *r)
{
	(void)arg;
	name_user(r);
	request_start(&room.serve, room.manner & 1 ? ROUTE_STATUS : ROUTE_SECURE, r);
}

static void say_configmap(void)
{
	static const char *const names[] = { "front-proxy.test", NULL };
	struct x509_pair ca;
	json_t *configmap;
	char *text;

	must(x509_make_ca("front-proxy", names, INT64_C(1750000000000), 3600, &ca, NULL) == 0);
	configmap = json_pack("{s:{s:s,s:s,s:s,s:s,s:s}}", "data", "requestheader-client-ca-file", ca.cert_pem,
		"requestheader-username-headers", "[\"X-Remote-User\"]", "requestheader-uid-headers",
		"[\"X-Remote-Uid\"]", "requestheader-group-headers", "[\"X-Remote-Group\"]",
		"requestheader-extra-headers-prefix", "[\"X-Remote-Extra-\"]");
	text = json_dumps(configmap, 0);
	fake_kube_list(room.kube, text);
	free(text);
	json_decref(configmap);
	x509_pair_done(&ca);
}

/* At each path that is a webhook's. */
static bool asks_for_reviews_at(const void *arg, const char *path, size_t len)
{
	(void)arg;
	(void)path;
	(void)len;
	return true;
}

static void set_up(void)
{
	struct httpd_config config;
	struct loop *loop = caller_start();

	room.kube = fake_kube_new(loop);
	room.cache = fake_cache_new(loop);
	room.cache->synced = true;
	fake_serve_start(&room.serve, room.kube, &room.cache->cache, asks_for_reviews_at);
	say_configmap();
	httpd_config_defaults(&config);
	config.address = "127.0.0.1";
	room.httpd = httpd_new(loop, &config, on_request, NULL, NULL);
	must(room.httpd);
	room.serve.secure = room.httpd;
}

/* One of those who wait is told, in this turn. */
static void each_turn(void *arg)
{
	static const struct admit_verdict allowed = { .allowed = true }, refused = { .reason = "x", .message = "no" };

	(void)arg;
	if (fake_kube_token_reviews(room.kube)) {
		if (room.manner & 4)
			fake_kube_fail_token(room.kube, ERR_TEMPORARY, 429, "busy");
		else
			fake_kube_answer_token(room.kube, room.manner & 2 ? NULL : "mia", "team");
	} else if (fake_kube_access_reviews(room.kube)) {
		fake_kube_answer_access(room.kube, !(room.manner & 8), "so");
	} else if (room.cache->fn) {
		if (room.manner & 16)
			fake_cache_fail(room.cache, "down");
		else
			fake_cache_answer(room.cache, 4);
	} else if (fake_admit_waiting()) {
		fake_admit_answer(room.manner & 32 ? &refused : &allowed);
	}
}

static void say(const uint8_t *data, size_t size)
{
	struct buf heard = BUF_INIT(1 << 20);
	const struct caller_words words = { .bytes = data + 2,
		.len = size - 2,
		.piece = data[1],
		.is_hurried = (data[0] & HURRIED) != 0,
		.heard = &heard };

	room.manner = data[0];
	room.cache->memory = room.manner & 64 ? FAKE_ANSWER : FAKE_NOTHING;
	caller_say(httpd_port(room.httpd), &words, each_turn, NULL);
	must(heard.len == 0 || strncmp(heard.data, "HTTP/", 5) == 0);
	must(httpd_connections(room.httpd) == 0 && !room.serve.waiting);
	frontproxy_forget(&room.memo);
	buf_done(&heard);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!room.httpd)
		set_up();
	if (size >= 2)
		say(data, size);
	return 0;
}
