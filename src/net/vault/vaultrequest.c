/* SPDX-License-Identifier: Apache-2.0 */
#include "net/vault/vaultrequest.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "net/http/httpurl.h"
#include "net/vault/vaultreply.h"

#define ANSWER_MAX  ((size_t)1 << 20)
#define DEADLINE_MS 30000 /* of the request, its turn included; those who wait for it have their own */
#define ORIGIN_TEXT 256

struct vaultrequest {
	const struct vaultrequest_sender *sender;
	struct httphost *host;
	struct httphost_turn turn;
	struct httpc_call *call;
	struct loop_timer deadline;
	const struct vaultrequest_server *server;
	char *url, *token, *body, *secret; /* owned; all but url are wiped */
	char *asker;                       /* owned */
	bool redirected;
	vaultrequest_fn fn;
	void *arg;
};

static void vaultrequest_free(struct vaultrequest *r)
{
	httpc_cancel(r->call);
	httphost_leave(&r->turn);
	loop_timer_done(&r->deadline);
	free(r->url);
	mem_free_secret(r->token);
	mem_free_secret(r->body);
	mem_free_secret(r->secret);
	free(r->asker);
	free(r);
}

static void wait_for_turn(struct vaultrequest *r);

/* Ends the request: r is freed before the callback. */
static void tell(struct vaultrequest *r, const json_t *answer, size_t size, const struct err *err)
{
	vaultrequest_fn fn = r->fn;
	void *arg = r->arg;

	vaultrequest_free(r);
	fn(arg, answer, size, err);
}

static bool is_here(const struct vaultrequest *r, const char *location)
{
	struct httpurl_place there = { 0 };
	bool is = httpurl_place(location, &there, NULL) == 0 && httpurl_is_same(&r->server->place, &there);

	httpurl_place_done(&there);
	return is;
}

/*
 * Follows one redirect, as Vault's own client does, but never to another server, which would get
 * the token, or, at a login, the service account's token.
 */
static int follow(struct vaultrequest *r, const struct httpc_response *response, const char *const *secrets,
	struct err *err)
{
	char origin[ORIGIN_TEXT];

	if (*response->location == '\0')
		return err_set(err, ERR_TEMPORARY, "HTTP %d leads nowhere", response->status);
	if (r->redirected)
		return err_set(err, ERR_TEMPORARY, "redirected more than once");
	if (!is_here(r, response->location)) {
		httpurl_origin(response->location, origin, sizeof(origin));
		return err_set(err, ERR_TEMPORARY,
			"redirected to another server, %s, which is shown no token: give that as the address",
			vaultreply_repeats(origin, secrets) ? "whose name repeats what was sent and is not shown"
							    : origin);
	}
	r->redirected = true;
	free(r->url);
	r->url = mem_dup(response->location);
	return 0;
}

static bool is_redirect(int status)
{
	return status == 301 || status == 302 || status == 307 || status == 308;
}

static void on_done(void *arg, const struct httpc_response *response, const struct err *failure)
{
	struct vaultrequest *r = arg;
	const char *const secrets[] = { r->token ? r->token : "", r->secret ? r->secret : "", NULL };
	char origin[ORIGIN_TEXT];
	json_t *answer = NULL;
	struct err err;
	size_t size = 0;

	r->call = NULL;
	httphost_leave(&r->turn);
	httpurl_origin(r->url, origin, sizeof(origin));
	err_clear(&err);
	if (failure) {
		if (failure->kind == ERR_TEMPORARY)
			httphost_unanswered(r->host);
		err = *failure;
		if (!text_begins(err.msg, origin))
			err_wrap(&err, "%s", origin);
	} else if (is_redirect(response->status) && follow(r, response, secrets, &err) == 0) {
		wait_for_turn(r);
		return;
	} else if (err.kind == ERR_NONE) {
		size = response->len;
		answer = vaultreply_parse(response->status, response->body, response->len, secrets, &err);
		err.retry_after_ms = !answer ? response->retry_after_ms : 0;
	}
	if (!answer && !failure)
		err_wrap(&err, "%s", origin);
	tell(r, answer, size, !answer ? &err : NULL);
	json_decref(answer);
}

static void on_connected(void *arg, bool http2)
{
	struct vaultrequest *r = arg;

	httphost_connected(&r->turn, http2);
}

static void send_request(struct vaultrequest *r)
{
	static const struct httpc_events events = { .on_connected = on_connected, .on_done = on_done };
	char *token = r->token ? mem_printf("X-Vault-Token: %s", r->token) : NULL;
	char *namespace_ = r->server->namespace_ && *r->server->namespace_ != '\0'
		? mem_printf("X-Vault-Namespace: %s", r->server->namespace_)
		: NULL;
	/* a listener may require it, as browsers never send it */
	const char *headers[5] = { "X-Vault-Request: true" };
	size_t count = 1;

	if (token)
		headers[count++] = token;
	if (namespace_)
		headers[count++] = namespace_;
	if (r->body)
		headers[count++] = "Content-Type: application/json";
	r->call = httpc_start(r->sender->http,
		&(struct httpc_request){
			.method = r->body ? "POST" : "GET",
			.url = r->url,
			.headers = headers,
			.body = r->body,
			.body_len = r->body ? strlen(r->body) : 0,
			.addresses = httphost_addresses(r->host),
			.http1 = httphost_wants_http1(r->host),
			.at_once = true,
			.namespace_ = r->asker,
			.max_body = ANSWER_MAX,
			.server = &r->server->trust,
		},
		&events, r);
	mem_free_secret(token);
	free(namespace_);
}

static void on_turn(void *arg, const struct err *err)
{
	struct vaultrequest *r = arg;

	if (err)
		tell(r, NULL, 0, err);
	else
		send_request(r);
}

static void wait_for_turn(struct vaultrequest *r)
{
	r->host = httphost_get(r->sender->hosts, &r->server->place, r->asker);
	httphost_wait(r->host, &r->turn, r->asker, on_turn, r);
}

static void on_deadline(void *arg)
{
	struct vaultrequest *r = arg;
	struct err err;

	if (r->call)
		httphost_hung(r->host);
	err_set(&err, ERR_TEMPORARY, "%s: no complete answer within %d ms", httphost_origin(r->host), DEADLINE_MS);
	tell(r, NULL, 0, &err);
}

struct vaultrequest *vaultrequest_start(const struct vaultrequest_sender *sender,
	const struct vaultrequest_server *server, const char *path, const char *token, const char *body,
	const char *secret, const char *asker, vaultrequest_fn fn, void *arg)
{
	struct vaultrequest *r = mem_zalloc(sizeof(*r));

	r->sender = sender;
	r->server = server;
	r->url = mem_printf("%s/v1/%s", server->address, path);
	r->token = mem_dup(token);
	r->body = mem_dup(body);
	r->secret = mem_dup(secret);
	r->asker = mem_dup(asker);
	r->fn = fn;
	r->arg = arg;
	loop_timer_init(&r->deadline, sender->loop, on_deadline, r);
	loop_timer_set(&r->deadline, DEADLINE_MS);
	wait_for_turn(r);
	return r;
}

void vaultrequest_cancel(struct vaultrequest *r)
{
	if (r)
		vaultrequest_free(r);
}

/* ---- The sender ---- */

void vaultrequest_sender_init(struct vaultrequest_sender *s, struct loop *loop)
{
	s->loop = loop;
	s->http = httpc_new(loop, &(struct httpc_config){ .foreign = true }, NULL);
	if (!s->http)
		abort(); /* libcurl does not start: out of memory */
	s->hosts = httphost_table_new(loop);
}

void vaultrequest_sender_done(struct vaultrequest_sender *s)
{
	httphost_table_free(s->hosts);
	httpc_free(s->http);
}
