/* SPDX-License-Identifier: Apache-2.0 */
#include "net/network.h"
#include "net/web/webclient.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <utlist.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/shares.h"
#include "base/timestamp.h"
#include "net/answers.h"
#include "net/http/httpc.h"
#include "net/http/httphost.h"
#include "net/http/httpurl.h"
#include "net/sign/sigv4.h"

#define BODY_MAX      ((size_t)1 << 20)
#define REDIRECTS_MAX 10
#define HEADERS_MAX   64
/* Idle connections, over all servers. */
#define KEPT_MAX 256

/* Connections and turns: one set for triggers' servers, one for the administrator's. */
struct connections {
	struct httpc *http; /* made when first needed */
	struct httphost_table *hosts;
};

struct webclient {
	struct loop *loop;
	int64_t timeout_ms;
	struct connections foreign, own;
	struct webclient_call *calls;
	webclient_watch_fn watch; /* NULL */
	void *watch_arg;
};

enum wait { FOR_NOTHING, FOR_TURN, FOR_ANSWER };

struct webclient_call {
	struct webclient *owner;
	struct connections *connections;
	struct webclient_call *prev, *next;
	webclient_fn fn;
	void *arg;
	char *url;                /* owned; redirects change it */
	char *body;               /* owned, may be a secret; NULL */
	const char *content_type; /* of body */
	const char *method;
	enum webclient_redirects rule;
	const char *wanted_header;            /* NULL */
	char *wanted[WEBRESPONSE_WANTED_MAX]; /* owned; the values; NULL */
	char *namespace_;                     /* owned */
	const char *asker;                    /* borrowed; NULL */
	size_t max_body;
	bool spare; /* httphost_spare */
	bool (*on_piece)(void *arg, const char *bytes, size_t len, size_t *kept);
	size_t taken;               /* by on_piece, so far */
	struct answers_hold kept;   /* bytes that on_piece keeps */
	struct err *crowded;        /* owned; why on_piece may keep no more; NULL */
	struct strmap headers;      /* may hold secrets */
	struct webaccess *access;   /* one reference; after a redirect to another server only its trust; NULL */
	struct httpurl_place place; /* server of url */
	unsigned redirects;
	enum wait wait;
	int64_t timeout_ms; /* for messages */
	int64_t connect_ms;
	struct loop_timer deadline;
	const struct credential *credential; /* borrowed; NULL, also after a redirect to another server */
	bool hides_host;                     /* a redirect's host repeats a credential: no error may show it */
	bool measured;                       /* see webresponse; of the current response */
	struct httphost *host;
	struct httphost_turn turn;
	struct httpc_call *http;
	int64_t since_ms;           /* loop clock: start of the wait for the turn or the response */
	struct httpc_server server; /* its texts belong to the access */
	struct loop_task start_failed;
	struct err start_err;
};

static void report(const struct webclient_call *call, int status)
{
	struct webclient *w = call->owner;

	if (w->watch && call->asker)
		w->watch(w->watch_arg, call->asker, status, loop_now_ms(w->loop) - call->since_ms);
}

/* ---- The end of a call ---- */

static void forget_headers(struct webclient_call *call)
{
	for (size_t i = 0; i < WEBRESPONSE_WANTED_MAX; i++)
		mem_free_ptr(&call->wanted[i]);
}

static void call_free(void *ptr)
{
	struct webclient_call *call = ptr;

	loop_timer_done(&call->deadline);
	answers_release(&call->kept);
	err_keep(&call->crowded, NULL);
	mem_free_secret(call->url);
	mem_free_secret(call->body);
	forget_headers(call);
	free(call->namespace_);
	strmap_done_secret(&call->headers);
	httpurl_place_done(&call->place);
	webaccess_unref(call->access);
	free(call);
}

/*
 * Stops the call. It is freed at the end of the turn, as libcurl may use the PEM texts until then.
 */
static void detach(struct webclient_call *call)
{
	DL_DELETE(call->owner->calls, call);
	loop_task_cancel(call->owner->loop, &call->start_failed);
	loop_timer_cancel(&call->deadline);
	httpc_cancel(call->http);
	httphost_leave(&call->turn);
	loop_free_later(call->owner->loop, call, call_free);
}

static void fail(struct webclient_call *call, const struct err *err)
{
	struct err copy = *err;

	if (call->hides_host)
		err_set(&copy, err->kind,
			"redirected to a server whose name repeats a credential that was sent; the name, and what went "
			"wrong there, are not shown");
	if (call->wait != FOR_NOTHING)
		report(call, 0);
	detach(call);
	call->fn(call->arg, NULL, &copy);
}

static void on_deadline(void *arg)
{
	struct webclient_call *call = arg;
	long long ms = (long long)call->timeout_ms;
	char where[256];
	struct err err;

	httpurl_origin(call->url, where, sizeof(where));
	if (call->wait == FOR_TURN && httphost_looking_up(call->host))
		err_set(&err, ERR_TEMPORARY, "%s: the name was not looked up within %lld ms", where, ms);
	else if (call->wait == FOR_TURN && httphost_lost(call->host))
		err_set(&err, ERR_TEMPORARY, "%s: %s", where, httphost_lost(call->host)->msg);
	else if (call->wait == FOR_TURN)
		err_set(&err, ERR_TEMPORARY, "%s: other requests kept it busy for %lld ms", where, ms);
	else
		err_set(&err, ERR_TEMPORARY, "%s: no complete answer within %lld ms", where, ms);
	if (call->wait == FOR_ANSWER)
		httphost_hung(call->host);
	httpc_cancel_late(call->http);
	call->http = NULL;
	fail(call, &err);
}

/* ---- Headers ---- */

struct lines {
	char *text[HEADERS_MAX + 1]; /* owned, may hold secrets; NULL-terminated */
	size_t count;
};

static void add_line(struct lines *lines, char *line /* takes */)
{
	if (lines->count < HEADERS_MAX)
		lines->text[lines->count++] = line;
	else
		mem_free_secret(line);
}

static char *basic_line(const char *username, const char *password)
{
	char *pair = mem_printf("%s:%s", username, password ? password : "");
	char *encoded = base64_encode(pair, strlen(pair));
	char *line = mem_printf("Authorization: Basic %s", encoded);

	mem_free_secret(pair);
	mem_free_secret(encoded);
	return line;
}

static void make_lines(const struct webclient_call *call, struct lines *lines)
{
	const struct webaccess_config *c = webaccess_config(call->access);
	bool authorized = c && (c->bearer || c->username || c->identity), agent = false;

	for (size_t i = 0; i < call->headers.count; i++) {
		const struct strmap_pair *h = &call->headers.pairs[i];

		agent = agent || strcasecmp(h->key, "User-Agent") == 0;
		if (strcasecmp(h->key, "Authorization") != 0 || !authorized)
			add_line(lines, mem_printf("%s: %s", h->key, h->value));
	}
	if (!agent)
		add_line(lines, mem_dup("User-Agent: kscaled"));
	if (call->body)
		add_line(lines, mem_printf("Content-Type: %s", call->content_type));
	if (c && c->username)
		add_line(lines, basic_line(c->username, c->password));
	if (c && c->header_name)
		add_line(lines, mem_printf("%s: %s", c->header_name, c->header_value ? c->header_value : ""));
}

/* ---- AWS signatures ---- */

static bool is_signed(const struct webclient_call *call)
{
	const struct webaccess_config *c = webaccess_config(call->access);

	return call->credential && c && c->service;
}

/*
 * The URL with the query in the canonical form that is signed, so that the server reads the same
 * one; also its path and query. The caller owns all three.
 */
static char *url_to_sign(const char *url, char **path, char **query)
{
	const char *rest = strstr(url, "://"), *end;
	size_t len;

	rest = rest ? rest + 3 : url;
	len = strcspn(rest, "/?#");
	end = rest + len;
	*path = *end == '/' ? mem_dupn(end, strcspn(end, "?#")) : mem_dup("/");
	end += strcspn(end, "?#");
	if (*end == '?') {
		char *written = mem_dupn(end + 1, strcspn(end + 1, "#"));

		*query = sigv4_query(written);
		mem_free_secret(written);
	} else {
		*query = mem_dup("");
	}
	return mem_printf("%.*s%s%s%s", (int)(rest + len - url), url, *path, **query ? "?" : "", *query);
}

static bool is_to_be_signed(const char *name)
{
	return strncasecmp(name, "X-Amz-", 6) == 0 || strcasecmp(name, "Content-Type") == 0;
}

/* Adds date, token and signature to the lines. Returns the URL to send, which the caller owns. */
static char *sign_lines(const struct webclient_call *call, const char *url, struct lines *lines)
{
	const struct webaccess_config *c = webaccess_config(call->access);
	const struct credential *k = call->credential;
	const struct sigv4_key key = { .region = c->region,
		.service = c->service,
		.key_id = k->key_id,
		.secret = k->secret,
		.day = webaccess_signing_day(call->access, k->serial) };
	int64_t unix_s = timestamp_now_ms() / 1000;
	char time[SIGV4_TIME_TEXT], *path, *query, *authorization, *sent = url_to_sign(url, &path, &query);
	MEM_AUTO char *host = httpurl_host_header(&call->place);
	struct sigv4_header headers[HEADERS_MAX + 2] = { { "Host", host } };
	char *names[HEADERS_MAX + 1] = { NULL };
	struct sigv4_request r = { .method = call->method,
		.path = path,
		.query = query,
		.headers = headers,
		.header_count = 1,
		.body = call->body,
		.body_len = call->body ? strlen(call->body) : 0,
		.is_s3 = strcmp(c->service, "s3") == 0 };

	add_line(lines, mem_printf("X-Amz-Date: %s", sigv4_time(unix_s, time)));
	if (k->session_token)
		add_line(lines, mem_printf("X-Amz-Security-Token: %s", k->session_token));
	for (size_t i = 0; i < lines->count; i++) {
		size_t len = strcspn(lines->text[i], ":");

		names[i] = mem_dupn(lines->text[i], len);
		if (is_to_be_signed(names[i]) && lines->text[i][len])
			headers[r.header_count++] = (struct sigv4_header){ names[i], lines->text[i] + len + 1 };
	}
	authorization = sigv4_authorization(&r, &key, unix_s);
	add_line(lines, mem_printf("Authorization: %s", authorization));
	for (size_t i = 0; i <= HEADERS_MAX; i++)
		free(names[i]);
	mem_free_secret(authorization);
	mem_free_secret(path);
	mem_free_secret(query);
	return sent;
}

/* ---- The steps ---- */

static void wait_for_turn(struct webclient_call *call);

static void answer(struct webclient_call *call, const struct httpc_response *response)
{
	struct webresponse a = { .status = response->status,
		.body = response->body,
		.len = response->len,
		.content_type = response->content_type,
		.location = response->location,
		.retry_after_ms = response->retry_after_ms,
		.measured = call->measured,
		.credential = call->credential };

	for (size_t i = 0; i < WEBRESPONSE_WANTED_MAX; i++)
		a.wanted[i] = call->wanted[i] ? call->wanted[i] : "";
	detach(call);
	call->fn(call->arg, &a, NULL);
}

static bool is_same_server(const struct webclient_call *call, const char *location)
{
	struct httpurl_place there = { 0 };
	bool is = httpurl_place(location, &there, NULL) == 0 && httpurl_is_same(&call->place, &there);

	httpurl_place_done(&there);
	return is;
}

static bool is_followed(const struct webclient_call *call, const struct httpc_response *response)
{
	int s = response->status;

	if (!*response->location || (s != 301 && s != 302 && s != 303 && s != 307 && s != 308))
		return false;
	if (call->rule == WEBCLIENT_STAY)
		return s != 303 && call->redirects == 0 && is_same_server(call, response->location);
	return !call->body && call->connections == &call->owner->foreign;
}

/*
 * Moves the call to the new URL. Credentials and headers are kept only where httpurl_may_follow
 * allows it; once dropped, they are not used again.
 */
static int redirect(struct webclient_call *call, const char *location, struct err *err)
{
	struct httpurl_place place;
	char *url;

	if (++call->redirects > REDIRECTS_MAX)
		return err_set(err, ERR_INVALID, "%s: redirected more than %d times", httphost_origin(call->host),
			REDIRECTS_MAX);
	url = httpurl_without_user(location, err);
	if (!url)
		return err_wrap(err, "%s: redirected, and the new URL", httphost_origin(call->host));
	httpurl_place(url, &place, err);
	call->hides_host |= webaccess_echoes_secret(call->access, place.host, NULL) ||
		(call->credential && credential_echoes_secret(call->credential, place.host, NULL));
	if (!httpurl_may_follow(&call->place, &place)) {
		struct webaccess *trust = webaccess_without_credentials(call->access);

		webaccess_unref(call->access);
		call->access = trust;
		strmap_done_secret(&call->headers);
		call->credential = NULL;
	}
	mem_free_secret(call->url);
	call->url = url;
	httpurl_place_done(&call->place);
	call->place = place;
	return 0;
}

static void on_http(void *arg, const struct httpc_response *response, const struct err *err)
{
	struct webclient_call *call = arg;
	struct err failure;

	call->http = NULL;
	httphost_leave(&call->turn);
	if (response)
		report(call, response->status);
	if (err && call->taken > call->max_body) {
		err_set(&failure, ERR_INVALID, "the answer is larger than %zu bytes", call->max_body);
		fail(call, &failure);
	} else if (err && call->crowded) {
		fail(call, call->crowded);
	} else if (err) {
		/* its probe obeys the rules for triggers' servers */
		if (err->kind == ERR_TEMPORARY && call->connections == &call->owner->foreign)
			httphost_unanswered(call->host);
		fail(call, err);
	} else if (!is_followed(call, response)) {
		answer(call, response);
	} else if (redirect(call, response->location, &failure) < 0) {
		fail(call, &failure);
	} else {
		wait_for_turn(call);
	}
}

/* The last header of that name counts. */
static void keep_header(char **value, const char *name, size_t name_len, const char *line, size_t len)
{
	if (len <= name_len || line[name_len] != ':' || strncasecmp(line, name, name_len) != 0)
		return;
	line += name_len + 1;
	len -= name_len + 1;
	while (len > 0 && (*line == ' ' || *line == '\t')) {
		line++;
		len--;
	}
	free(*value);
	*value = mem_dupn(line, len);
}

static void keep_headers(struct webclient_call *call, const char *line, size_t len)
{
	const char *name = call->wanted_header;

	for (size_t i = 0; name && *name && i < WEBRESPONSE_WANTED_MAX; i++) {
		size_t name_len = strcspn(name, " ");

		keep_header(&call->wanted[i], name, name_len, line, len);
		name += name_len + strspn(name + name_len, " ");
	}
}

static void on_header(void *arg, const char *line, size_t len)
{
	static const char *const names[] = { "HTTP/2", "content-length:", "transfer-encoding:" };
	struct webclient_call *call = arg;

	for (size_t i = 0; i < MEM_COUNT(names); i++)
		if (len >= strlen(names[i]) && strncasecmp(line, names[i], strlen(names[i])) == 0)
			call->measured = true;
	keep_headers(call, line, len);
}

static void on_connected(void *arg, bool http2)
{
	struct webclient_call *call = arg;

	httphost_connected(&call->turn, http2);
}

static bool on_data(void *arg, const char *bytes, size_t len)
{
	struct webclient_call *call = arg;
	size_t kept = 0;
	struct err err;

	call->taken += len;
	if (call->taken > call->max_body || !call->on_piece(call->arg, bytes, len, &kept))
		return false;
	call->kept.namespace_ = call->namespace_;
	if (answers_hold(&network_of(call->owner->loop)->answers, &call->kept, kept, &err) == 0)
		return true;
	err_keep(&call->crowded, &err);
	return false;
}

static const struct httpc_events http_events = { .on_connected = on_connected,
	.on_header = on_header,
	.on_done = on_http };

static void send(struct webclient_call *call)
{
	const struct webaccess_config *c = webaccess_config(call->access);
	char *with_key = c && c->query_name
		? httpurl_with_parameter(call->url, c->query_name, c->query_value ? c->query_value : "")
		: NULL;
	struct httpc_events events = http_events;
	struct lines lines = { .count = 0 };
	char *signed_url = NULL;
	struct httpc_request request = {
		.method = call->method,
		.url = with_key ? with_key : call->url,
		.headers = (const char *const *)lines.text,
		.bearer = call->credential && call->credential->token ? call->credential->token
			: c                                           ? c->bearer
								      : NULL,
		.addresses = httphost_addresses(call->host),
		.body = call->body,
		.body_len = call->body ? strlen(call->body) : 0,
		.namespace_ = call->namespace_,
		.connect_ms = call->connect_ms,
		.max_body = call->max_body,
		.http1 = httphost_wants_http1(call->host),
		.at_once = true,
		.server = &call->server,
	};

	make_lines(call, &lines);
	if (is_signed(call))
		request.url = signed_url = sign_lines(call, request.url, &lines);
	call->server = (struct httpc_server){ .system_too = !c || !c->operators,
		.proxy_url = call->connections == &call->owner->own ? "" : httphost_proxy(call->host) };
	if (c) {
		call->server.ca_pem = c->operators ? c->ca_pem : NULL;
		call->server.roots = c->roots;
		call->server.cert_pem = c->cert_pem;
		call->server.key_pem = c->key_pem;
		call->server.insecure = c->insecure;
	}
	call->wait = FOR_ANSWER;
	call->measured = false;
	forget_headers(call);
	call->taken = 0;
	answers_release(&call->kept);
	events.on_data = call->on_piece ? on_data : NULL;
	call->since_ms = loop_now_ms(call->owner->loop);
	call->http = httpc_start(call->connections->http, &request, &events, call);
	for (size_t i = 0; i < lines.count; i++)
		mem_free_secret(lines.text[i]);
	mem_free_secret(with_key);
	mem_free_secret(signed_url);
}

static void on_turn(void *arg, const struct err *err)
{
	struct webclient_call *call = arg;

	if (err)
		fail(call, err);
	else
		send(call);
}

static void wait_for_turn(struct webclient_call *call)
{
	call->wait = FOR_TURN;
	call->since_ms = loop_now_ms(call->owner->loop);
	call->host = httphost_get(call->connections->hosts, &call->place, call->namespace_);
	if (call->spare)
		httphost_spare(call->host);
	httphost_wait(call->host, &call->turn, call->namespace_, on_turn, call);
}

/* ---- Starting ---- */

static void on_start_failed(void *arg)
{
	struct webclient_call *call = arg;

	fail(call, &call->start_err);
}

struct webclient_call *webclient_start(struct webclient *w, const struct webrequest *request,
	const struct webclient_options *options, webclient_fn fn, void *arg)
{
	struct webclient_call *call = mem_zalloc(sizeof(*call));
	struct connections *connections = request->own ? &w->own : &w->foreign;
	int64_t span_ms = request->timeout_ms > 0 ? request->timeout_ms
		: options->timeout_ms > 0         ? options->timeout_ms
						  : w->timeout_ms;
	int64_t left_ms = options->deadline_ms - loop_now_ms(w->loop);
	/* Idle connections must leave descriptors for new ones. */
	size_t share = network_of(w->loop)->descriptors.total / 8;
	const struct httpc_config config = {
		.max_connections_kept = share > 0 && share < KEPT_MAX ? (int)share : KEPT_MAX,
		.foreign = connections == &w->foreign,
	};

	call->owner = w;
	call->connections = connections;
	call->fn = fn;
	call->arg = arg;
	call->url = mem_dup(request->url);
	call->body = mem_dup(request->body);
	call->content_type = request->content_type;
	call->method = request->method ? request->method : request->body ? "POST" : "GET";
	call->wanted_header = request->wanted_header;
	call->rule = options->redirects;
	call->namespace_ = mem_dup(options->namespace_ ? options->namespace_ : "");
	call->asker = options->asker;
	call->spare = request->spare;
	call->max_body = request->max_body ? request->max_body : BODY_MAX;
	call->on_piece = options->on_piece;
	call->timeout_ms = span_ms;
	/* less than the whole, to tell an unreachable server from one that does not respond */
	call->connect_ms = options->connect_ms ? options->connect_ms : span_ms > 10 ? span_ms / 10 * 9 : span_ms;
	call->access = webaccess_ref(options->access);
	strmap_copy(&call->headers, &request->headers);
	call->credential = options->credential;
	DL_APPEND(w->calls, call);
	loop_task_init(&call->start_failed, on_start_failed, call);
	loop_timer_init(&call->deadline, w->loop, on_deadline, call);
	loop_timer_set(&call->deadline, options->deadline_ms && left_ms < span_ms ? left_ms : span_ms);
	if (!connections->http)
		connections->http = httpc_new(w->loop, &config, &call->start_err);
	if (!connections->http || httpurl_place(call->url, &call->place, &call->start_err) < 0)
		loop_task_queue(w->loop, &call->start_failed);
	else
		wait_for_turn(call);
	return call;
}

void webclient_cancel(struct webclient_call *call)
{
	if (call)
		detach(call);
}

/* ---- Life ---- */

struct webclient *webclient_new(struct loop *loop, int64_t timeout_ms)
{
	struct webclient *w = mem_zalloc(sizeof(*w));

	w->loop = loop;
	w->timeout_ms = timeout_ms;
	w->foreign.hosts = httphost_table_new(loop);
	w->own.hosts = httphost_table_new(loop);
	return w;
}

int64_t webclient_timeout_ms(const struct webclient *w)
{
	return w->timeout_ms;
}

void webclient_watch(struct webclient *w, webclient_watch_fn fn, void *arg)
{
	w->watch = fn;
	w->watch_arg = arg;
}

void webclient_free(struct webclient *w)
{
	if (!w)
		return;
	while (w->calls)
		detach(w->calls);
	httphost_table_free(w->foreign.hosts);
	httphost_table_free(w->own.hosts);
	httpc_free(w->foreign.http);
	httpc_free(w->own.http);
	free(w);
}
