/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http/httpc.h"

#include <curl/curl.h>
#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/buf.h"
#include "base/mem.h"
#include "net/answers.h"
#include "net/http/httpclear.h"
#include "net/http/httpmulti.h"
#include "net/http/httprequest.h"
#include "net/http/httpsockets.h"
#include "net/http/httpurl.h"
#include "net/network.h"

#define BODY_MAX          ((size_t)16 << 20)
#define RETRY_AFTER_MAX_S 86400
#define POOLS_MAX         16                /* retired ones live as long as their calls and use further descriptors */
#define HEADERS_MAX       ((size_t)1 << 18) /* of one answer, including trailers and any 1xx responses before it */
/*
 * Limits per turn of the loop for foreign servers: bytes for on_data of one call, of all resumed
 * calls, and bytes of bodies handed to on_done.
 */
#define TURN_BYTES    ((size_t)1 << 15)
#define RESUMED_BYTES ((size_t)1 << 16)
#define TOLD_BYTES    ((size_t)1 << 16)

/*
 * One curl multi. A client has one for new requests, and, after httpc_drop_connections, older ones
 * that end with their last transfer. libcurl must not be called from inside its callbacks, so a
 * call that ends there is only marked (`ended`) and freed when libcurl has returned.
 */
struct httpc_pool {
	struct httpc *c;
	struct httpmulti *multi;
	struct httpc_call *calls;
	struct httpclear_pool clear;
	struct httpsockets sockets; /* of a foreign client */
	struct loop_timer resume;   /* pending while calls are paused or not reported yet */
	uint64_t turn;              /* the turn in which `told` bytes were reported */
	size_t told;
	bool untidy;  /* calls wait to be freed or added */
	bool retired; /* takes no new requests; freed with its last transfer */
	struct httpc_pool *prev, *next;
};

struct httpc {
	struct loop *loop;
	struct httpc_config config;
	struct httpc_pool *pools; /* the first one takes new requests */
	struct httpc_call *unfit; /* calls refused before they got to a pool */
	unsigned depth;           /* callbacks on the stack */
	bool freed;               /* as soon as depth is 0 */
};

struct httpc_call {
	struct httpc *c;
	struct httpc_pool *pool; /* NULL when unfit */
	struct httpc_call *prev, *next;
	struct httpc_events events;
	void *arg;
	CURL *easy;
	struct httprequest request;
	struct buf body;
	struct answers_hold held; /* bytes of the body, if foreign */
	bool added;               /* libcurl has it */
	bool ended;               /* cancelled or reported; freed when libcurl has returned */
	bool streaming;           /* on_data receives the body */
	bool paused;              /* until the loop's next turn: */
	uint64_t turn;            /* the turn in which `taken` bytes were taken */
	size_t taken;
	struct httpclear_call clear;
	struct httpsockets_made made;
	bool told_status;
	bool refused;  /* on_data returned false */
	bool orphaned; /* its connection was given up: the timer ends it */
	int status;
	size_t header_bytes;
	int64_t started_ms, heard_ms;    /* heard_ms: when the last bytes came */
	int64_t deadline_ms, silence_ms; /* durations; 0: none */
	struct loop_timer timer;
	struct loop_task unfit_task;
	struct err unfit_err;
	char error[CURL_ERROR_SIZE];
};

/* ---- The library ---- */

/*
 * Debian's libcurl links librtmp, which links GnuTLS, whose initialisation at load time takes 0.9
 * MiB. It is skipped if the program has this function (gnutls.h, GNUTLS_SKIP_GLOBAL_INIT). A
 * library that does use GnuTLS (libldap, a libcurl on GnuTLS) calls gnutls_global_init. The name is
 * GnuTLS's; a linker option in configure.ac exports it.
 */
int _gnutls_global_init_skip(void);
int _gnutls_global_init_skip(void)
{
	return 1;
}

/* ---- Pools and their calls ---- */

/* Not from inside libcurl. */
static void call_free(struct httpc_call *call)
{
	struct httpc_pool *pool = call->pool;

	loop_timer_done(&call->timer);
	loop_task_cancel(call->c->loop, &call->unfit_task);
	if (call->added)
		httpmulti_remove(pool->multi, call->easy);
	httpclear_done(&call->clear);
	if (call->easy)
		curl_easy_cleanup(call->easy);
	if (pool) {
		httpsockets_let_go(&pool->sockets, &call->made);
		DL_DELETE(pool->calls, call);
	} else {
		DL_DELETE(call->c->unfit, call);
	}
	httprequest_done(&call->request);
	answers_release(&call->held);
	buf_done_secret(&call->body); /* may contain secrets */
	free(call);
}

static void on_curl_returned(void *arg);

/* Ended calls are still in the list, as this runs inside libcurl. */
static void each_transfer(void *arg, httpmulti_do_fn what)
{
	struct httpc_pool *pool = arg;
	struct httpc_call *call;

	DL_FOREACH (pool->calls, call)
		if (call->added && !call->ended && call->request.maybe_http2)
			what(pool->multi, call->easy);
}

/* Resumes some of the paused transfers; the others come first next time. */
static void each_paused(void *arg, httpmulti_do_fn what)
{
	struct httpc_pool *pool = arg;
	struct httpc_call *call, *next, *last = pool->calls ? pool->calls->prev : NULL;
	size_t taken = 0;

	for (call = pool->calls; call; call = next) {
		next = call == last ? NULL : call->next;
		if (!call->paused)
			continue;
		if (taken >= RESUMED_BYTES) {
			loop_timer_set(&pool->resume, 0);
			break;
		}
		call->paused = false;
		call->taken = 0;
		DL_DELETE(pool->calls, call);
		DL_APPEND(pool->calls, call);
		if (call->added && !call->ended)
			what(pool->multi, call->easy);
		taken += call->taken;
	}
}

static void on_resume(void *arg)
{
	struct httpc_pool *pool = arg;

	httpmulti_resume(pool->multi, each_paused);
}

static struct httpc_pool *httpc_pool_new(struct httpc *c)
{
	struct httpc_pool *pool = mem_zalloc(sizeof(*pool));
	CURLM *handle;

	pool->c = c;
	pool->sockets.loop = c->loop;
	pool->multi = httpmulti_new(c->loop, on_curl_returned, each_transfer, pool);
	loop_timer_init(&pool->resume, c->loop, on_resume, pool);
	handle = httpmulti_handle(pool->multi);
	curl_multi_setopt(handle, CURLMOPT_PIPELINING, CURLPIPE_MULTIPLEX);
	if (c->config.max_connections_per_host > 0)
		curl_multi_setopt(handle, CURLMOPT_MAX_HOST_CONNECTIONS, (long)c->config.max_connections_per_host);
	if (c->config.max_streams > 0)
		curl_multi_setopt(handle, CURLMOPT_MAX_CONCURRENT_STREAMS, (long)c->config.max_streams);
	if (c->config.max_connections_kept > 0)
		curl_multi_setopt(handle, CURLMOPT_MAXCONNECTS, (long)c->config.max_connections_kept);
	DL_PREPEND(c->pools, pool);
	return pool;
}

static void retire(struct httpc *c)
{
	c->pools->retired = true;
	httpc_pool_new(c);
}

static void httpc_pool_free(struct httpc_pool *pool)
{
	struct httpc_call *call, *next;

	DL_FOREACH_SAFE (pool->calls, call, next)
		call_free(call);
	loop_timer_done(&pool->resume);
	httpmulti_free(pool->multi);
	httpsockets_done(&pool->sockets);
	DL_DELETE(pool->c->pools, pool);
	free(pool);
}

static void httpc_really_free(struct httpc *c)
{
	struct httpc_pool *pool, *next_pool;
	struct httpc_call *call, *next_call;

	DL_FOREACH_SAFE (c->pools, pool, next_pool)
		httpc_pool_free(pool);
	DL_FOREACH_SAFE (c->unfit, call, next_call)
		call_free(call);
	free(c);
	curl_global_cleanup();
}

static void add_to_curl(struct httpc_call *call)
{
	httpclear_set(&call->clear, call->easy);
	httpmulti_add(call->pool->multi, call->easy, call->request.maybe_http2, !call->c->config.foreign);
	call->added = true;
}

static void tidy_pool(struct httpc_pool *pool)
{
	struct httpc_call *call, *next;

	pool->untidy = pool->clear.changed = false;
	DL_FOREACH_SAFE (pool->calls, call, next) {
		if (call->ended)
			call_free(call);
		else if (!call->added && !httpclear_must_wait(&call->clear))
			add_to_curl(call);
	}
}

/* Frees and adds calls when no callback is on the stack. May free c. */
static void tidy(struct httpc *c)
{
	struct httpc_pool *pool, *next;

	if (c->depth > 0)
		return;
	DL_FOREACH (c->pools, pool) {
		if (httpmulti_inside(pool->multi))
			return; /* on_curl_returned comes */
	}
	if (c->freed) {
		httpc_really_free(c);
		return;
	}
	DL_FOREACH_SAFE (c->pools, pool, next) {
		while (pool->untidy || pool->clear.changed)
			tidy_pool(pool);
		if (pool->retired && !pool->calls)
			httpc_pool_free(pool);
	}
}

/* ---- What libcurl hands us, from inside ---- */

static bool takes_pieces(const struct httpc_call *call)
{
	return call->streaming && call->status >= 200 && call->status <= 299;
}

static size_t on_curl_header(char *bytes, size_t size, size_t count, void *arg)
{
	struct httpc_call *call = arg;
	size_t len = size * count, text_len = len;
	long status = 0;

	call->heard_ms = loop_now_ms(call->c->loop);
	call->header_bytes += len;
	if (call->ended || call->header_bytes > HEADERS_MAX)
		return 0;
	curl_easy_getinfo(call->easy, CURLINFO_RESPONSE_CODE, &status);
	if (status < 200)
		return len; /* 100 Continue and the like: the final response follows */
	while (text_len > 0 && (bytes[text_len - 1] == '\r' || bytes[text_len - 1] == '\n'))
		text_len--;
	if (text_len > 0) {
		if (call->events.on_header)
			call->events.on_header(call->arg, bytes, text_len);
	} else if (!call->told_status) {
		call->status = (int)status;
		call->told_status = true;
		if (call->events.on_status)
			call->events.on_status(call->arg, call->status);
	}
	return call->ended ? 0 : len;
}

/*
 * libcurl reads from a socket as long as data is available: a server that sends faster than we
 * process would block everything else.
 */
static bool has_had_its_share(struct httpc_call *call)
{
	uint64_t now = loop_turns(call->c->loop);

	if (call->turn != now)
		call->taken = 0;
	call->turn = now;
	return call->taken >= TURN_BYTES;
}

/* 0 ends the call. */
static size_t collect(struct httpc_call *call, const char *bytes, size_t len)
{
	struct err err;

	if (call->c->config.foreign &&
		answers_hold(&network_of(call->c->loop)->answers, &call->held, call->body.len + len, &err)) {
		err_keep(&call->request.forbidden, &err);
		return 0;
	}
	buf_append(&call->body, bytes, len);
	return buf_failed(&call->body) ? 0 : len;
}

static size_t on_curl_data(char *bytes, size_t size, size_t count, void *arg)
{
	struct httpc_call *call = arg;
	size_t len = size * count;

	call->heard_ms = loop_now_ms(call->c->loop);
	httpmulti_hear(call->pool->multi, len);
	if (call->ended)
		return 0;
	if (!takes_pieces(call))
		return collect(call, bytes, len);
	if (call->c->config.foreign && has_had_its_share(call)) {
		call->paused = true;
		loop_timer_set(&call->pool->resume, 0);
		return CURL_WRITEFUNC_PAUSE;
	}
	call->taken += len;
	call->refused = !call->events.on_data(call->arg, bytes, len);
	return call->refused || call->ended ? 0 : len;
}

static bool is_late(const struct httpc_call *call)
{
	return call->deadline_ms && loop_now_ms(call->c->loop) >= call->started_ms + call->deadline_ms;
}

/* From ALPN: libcurl tells the version only after the response. */
static bool has_http2_connection(struct httpc_call *call)
{
	struct curl_tlssessioninfo *tls = NULL;
	const unsigned char *protocol = NULL;
	unsigned len = 0;

	curl_easy_getinfo(call->easy, CURLINFO_TLS_SSL_PTR, &tls);
	if (tls && tls->backend == CURLSSLBACKEND_OPENSSL && tls->internals)
		SSL_get0_alpn_selected(tls->internals, &protocol, &len);
	return call->request.http2 || (len == 2 && memcmp(protocol, "h2", 2) == 0);
}

/*
 * Runs before the request is sent. After the whole process was stopped for a while, libcurl would
 * first send its data and only then notice the time-out.
 */
static int on_curl_ready_to_send(void *arg, char *peer, char *own, int peer_port, int own_port)
{
	struct httpc_call *call = arg;

	(void)peer, (void)own, (void)peer_port, (void)own_port;
	if (is_late(call))
		return CURL_PREREQFUNC_ABORT;
	if (call->events.on_connected && !call->ended)
		call->events.on_connected(call->arg, has_http2_connection(call));
	return CURL_PREREQFUNC_OK;
}

static bool may_send_body(const void *arg)
{
	const struct httpc_call *call = arg;

	return !call->ended && !is_late(call);
}

static curl_socket_t on_curl_socket_wanted(void *arg, curlsocktype purpose, struct curl_sockaddr *address)
{
	struct httpc_call *call = arg;
	curl_socket_t fd;
	struct err err;

	(void)purpose;
	if (!httpclear_may_open(&call->clear))
		return CURL_SOCKET_BAD;
	if (!call->c->config.foreign)
		return socket(address->family, address->socktype | SOCK_CLOEXEC, address->protocol);
	fd = httpsockets_open(&call->pool->sockets, &call->made, address, call->held.namespace_, &err);
	if (fd == CURL_SOCKET_BAD)
		err_keep(&call->request.forbidden, &err);
	return fd;
}

/* Possibly long after the request that opened the socket. */
static int on_curl_socket_unwanted(void *arg, curl_socket_t fd)
{
	struct httpc_pool *pool = arg;

	httpsockets_close(&pool->sockets, fd);
	return 0;
}

static void set_callbacks(struct httpc_call *call)
{
	CURL *easy = call->easy;

	curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_curl_ready_to_send);
	curl_easy_setopt(easy, CURLOPT_PREREQDATA, call);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, call->error);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_curl_header);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, call);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_curl_data);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, call);
	curl_easy_setopt(easy, CURLOPT_PRIVATE, call);
	if (call->c->config.foreign || call->clear.pool) {
		curl_easy_setopt(easy, CURLOPT_OPENSOCKETFUNCTION, on_curl_socket_wanted);
		curl_easy_setopt(easy, CURLOPT_OPENSOCKETDATA, call);
	}
	if (call->c->config.foreign) {
		curl_easy_setopt(easy, CURLOPT_CLOSESOCKETFUNCTION, on_curl_socket_unwanted);
		curl_easy_setopt(easy, CURLOPT_CLOSESOCKETDATA, call->pool);
	}
}

/* ---- How a call ends ---- */

static void report_done(struct httpc_call *call, const struct httpc_response *response, const struct err *err)
{
	struct httpc *c = call->c;
	void (*on_done)(void *, const struct httpc_response *, const struct err *) = call->events.on_done;

	call->ended = true; /* a cancel from inside the callback has no effect; tidy frees the call */
	if (call->pool)
		call->pool->untidy = true;
	loop_timer_cancel(&call->timer);
	c->depth++;
	on_done(call->arg, response, err);
	c->depth--;
}

static void say_late(const struct httpc_call *call, const char *where, struct err *err)
{
	err_set(err, ERR_TEMPORARY, "%s: no complete answer within %lld ms", where, (long long)call->deadline_ms);
}

/*
 * Some of libcurl's messages contain milliseconds or stream numbers; the same reason must always
 * read the same.
 */
static void explain(struct httpc_call *call, CURLcode code, struct err *err)
{
	long error = 0;
	char where[256];

	httpurl_origin(call->request.url, where, sizeof(where));
	curl_easy_getinfo(call->easy, CURLINFO_OS_ERRNO, &error);
	if (code == CURLE_OK && call->status == 0) /* libcurl stops after 101 */
		err_set(err, ERR_TEMPORARY, "%s: the server sent no final response", where);
	else if (code == CURLE_OK)
		err_set(err, ERR_INVALID, "%s: it does not speak HTTP/2", where);
	else if (code == CURLE_ABORTED_BY_CALLBACK && is_late(call))
		say_late(call, where, err);
	else if (code == CURLE_OPERATION_TIMEDOUT)
		err_set(err, ERR_TEMPORARY, "%s: no connection within %lld ms", where,
			(long long)call->request.connect_ms);
	else if ((code == CURLE_COULDNT_CONNECT || code == CURLE_WRITE_ERROR) && call->request.forbidden)
		err_set(err, ERR_TEMPORARY, "%s: %s", where, call->request.forbidden->msg);
	else if (code == CURLE_COULDNT_CONNECT)
		err_set(err, ERR_TEMPORARY, "%s: %s", where, error ? strerror((int)error) : "could not connect");
	else if (code == CURLE_COULDNT_RESOLVE_HOST || code == CURLE_COULDNT_RESOLVE_PROXY)
		err_set(err, ERR_TEMPORARY, "%s: the name cannot be looked up", where);
	else if (call->request.http2 && !call->told_status &&
		(code == CURLE_HTTP2 || code == CURLE_WEIRD_SERVER_REPLY || code == CURLE_UNSUPPORTED_PROTOCOL))
		err_set(err, ERR_TEMPORARY, "%s: it does not speak HTTP/2", where);
	else if (code == CURLE_HTTP2_STREAM || code == CURLE_HTTP2)
		err_set(err, ERR_TEMPORARY, "%s: the server ended the HTTP/2 stream", where);
	else if (code == CURLE_URL_MALFORMAT)
		err_set(err, ERR_INVALID, "%s: %s", where, curl_easy_strerror(code));
	else
		err_set(err, ERR_TEMPORARY, "%s: %s", where, call->error[0] ? call->error : curl_easy_strerror(code));
}

static void finish_call(struct httpc_call *call, CURLcode code)
{
	struct httpc_response response = { .status = call->status,
		.body = buf_text(&call->body),
		.len = call->body.len,
		.content_type = "",
		.location = "" };
	long version = 0;
	curl_off_t retry_after_s = 0;
	char *content_type = NULL, *location = NULL;
	struct err err;

	curl_easy_getinfo(call->easy, CURLINFO_HTTP_VERSION, &version);
	if (call->refused) {
		err_set(&err, ERR_INVALID, "the answer was not accepted");
		report_done(call, NULL, &err);
	} else if (call->header_bytes > HEADERS_MAX) {
		err_set(&err, ERR_INVALID, "the answer's headers are larger than %zu bytes", HEADERS_MAX);
		report_done(call, NULL, &err);
	} else if (buf_failed(&call->body)) {
		err_set(&err, ERR_INVALID, "the answer is larger than %zu bytes", call->body.cap);
		report_done(call, NULL, &err);
	} else if (code != CURLE_OK || call->status == 0 || (call->request.http2 && version != CURL_HTTP_VERSION_2_0)) {
		explain(call, code, &err);
		report_done(call, NULL, &err);
	} else {
		curl_easy_getinfo(call->easy, CURLINFO_CONTENT_TYPE, &content_type);
		curl_easy_getinfo(call->easy, CURLINFO_RETRY_AFTER, &retry_after_s);
		curl_easy_getinfo(call->easy, CURLINFO_REDIRECT_URL, &location);
		if (content_type)
			response.content_type = content_type;
		if (location)
			response.location = location;
		response.retry_after_ms = (retry_after_s > RETRY_AFTER_MAX_S ? RETRY_AFTER_MAX_S : retry_after_s) *
			1000;
		response.took_ms = loop_now_ms(call->c->loop) - call->started_ms;
		report_done(call, &response, NULL);
	}
}

/*
 * The receiver of a large response of a foreign server parses it at once: beyond a limit the next
 * ones are reported in the next turn.
 */
static bool has_told_enough(struct httpc_pool *pool)
{
	uint64_t now = loop_turns(pool->c->loop);

	if (pool->turn != now)
		pool->told = 0;
	pool->turn = now;
	if (!pool->c->config.foreign || pool->told < TOLD_BYTES)
		return false;
	loop_timer_set(&pool->resume, 0);
	return true;
}

static void on_curl_returned(void *arg)
{
	struct httpc_pool *pool = arg;
	struct httpc *c = pool->c;
	struct httpc_call *call;
	CURLcode code;
	CURL *easy;

	c->depth++;
	while (!c->freed && !has_told_enough(pool) && (easy = httpmulti_next(pool->multi, &code)) != NULL) {
		curl_easy_getinfo(easy, CURLINFO_PRIVATE, &call);
		pool->told += call->body.len;
		if (call->ended)
			continue;
		if (!httpclear_goes_on(&call->clear)) {
			finish_call(call, code);
			continue;
		}
		httpmulti_remove(pool->multi, easy);
		call->added = false;
		pool->untidy = true; /* tidy adds it again */
	}
	c->depth--;
	tidy(c);
}

/* ---- Dead connections ---- */

/* Requests without a deadline (a watch, a push stream) would wait there for ever. */
static void orphan_streams(struct httpc_pool *pool, curl_socket_t fd)
{
	struct httpc_call *call;

	DL_FOREACH (pool->calls, call) {
		if (call->deadline_ms || call->ended || !call->added || httpmulti_socket(pool->multi, call->easy) != fd)
			continue;
		call->orphaned = true;
		loop_timer_set(&call->timer, 0);
	}
}

/*
 * The call's time is over. If no byte came on its connection meanwhile (except what a connection
 * begins with, in the first quarter), the connection is not used again: a middlebox, or the kernel
 * of a process that hangs, may acknowledge everything and answer nothing for ever, which TCP does
 * not notice. Calls that share it keep their own deadlines; libcurl closes it when it has no
 * others. An HTTP/1.1 connection closes with any call that did not end.
 */
static void give_up_if_dead(struct httpc_call *call)
{
	struct httpc_pool *pool = call->pool;
	int64_t waited_ms = loop_now_ms(call->c->loop) - call->started_ms;
	curl_socket_t fd;
	int pools;

	if (!pool || !call->added || !call->request.maybe_http2 || httpmulti_inside(pool->multi))
		return;
	fd = httpmulti_socket(pool->multi, call->easy);
	if (fd == CURL_SOCKET_BAD || httpmulti_silent_ms(fd) < waited_ms - waited_ms / 4)
		return;
	curl_easy_setopt(call->easy, CURLOPT_FORBID_REUSE, 1L);
	if (!call->c->config.one_server)
		return;
	orphan_streams(pool, fd);
	DL_COUNT(call->c->pools, pool, pools);
	if (!call->pool->retired && pools < POOLS_MAX)
		retire(call->c);
}

void httpc_cancel_late(struct httpc_call *call)
{
	if (!call || call->ended)
		return;
	give_up_if_dead(call);
	httpc_cancel(call);
}

/* The earlier of deadline and silence limit; 0 for none. */
static int64_t next_limit(const struct httpc_call *call)
{
	int64_t deadline = call->deadline_ms ? call->started_ms + call->deadline_ms : 0;
	int64_t silence = call->silence_ms ? call->heard_ms + call->silence_ms : 0;

	if (!deadline || !silence)
		return deadline ? deadline : silence;
	return deadline < silence ? deadline : silence;
}

static void watch_limits(struct httpc_call *call)
{
	int64_t limit = next_limit(call);

	if (limit)
		loop_timer_set(&call->timer, limit - loop_now_ms(call->c->loop));
}

/* One timer for both limits: arriving bytes only note their time, and the timer checks again. */
static void on_limit(void *arg)
{
	struct httpc_call *call = arg;
	struct httpc *c = call->c;
	int64_t now_ms = loop_now_ms(c->loop);
	char where[256];
	struct err err;

	if (!call->orphaned && now_ms < next_limit(call)) {
		watch_limits(call);
		return;
	}
	httpurl_origin(call->request.url, where, sizeof(where));
	if (call->orphaned)
		err_set(&err, ERR_TEMPORARY, "%s: the connection is dead: nothing comes on it", where);
	else if (is_late(call))
		say_late(call, where, &err);
	else
		err_set(&err, ERR_TEMPORARY, "%s: nothing came for %lld ms", where, (long long)call->silence_ms);
	give_up_if_dead(call);
	report_done(call, NULL, &err);
	tidy(c);
}

/* ---- How a call starts ---- */

static void on_unfit(void *arg)
{
	struct httpc_call *call = arg;
	struct httpc *c = call->c;

	report_done(call, NULL, &call->unfit_err);
	if (!c->freed)
		call_free(call);
	tidy(c);
}

static struct httpc_call *call_new(struct httpc *c, const struct httpc_request *request,
	const struct httpc_events *events, void *arg)
{
	struct httpc_call *call = mem_zalloc(sizeof(*call));

	call->c = c;
	call->events = *events;
	call->held.namespace_ = request->namespace_;
	call->arg = arg;
	call->streaming = events->on_data != NULL;
	call->started_ms = call->heard_ms = loop_now_ms(c->loop);
	call->deadline_ms = request->deadline_ms;
	call->silence_ms = call->streaming ? request->silence_ms : 0;
	buf_init(&call->body, request->max_body ? request->max_body : BODY_MAX);
	loop_timer_init(&call->timer, c->loop, on_limit, call);
	loop_task_init(&call->unfit_task, on_unfit, call);
	return call;
}

struct httpc_call *httpc_start(struct httpc *c, const struct httpc_request *request, const struct httpc_events *events,
	void *arg)
{
	struct httpc_call *call = call_new(c, request, events, arg);

	/*
	 * A new handle for each request: on a used handle that still has its buffer, libcurl 7.88
	 * refuses CURLOPT_BUFFERSIZE, forgets the buffer's size (curl_easy_reset), and writes past
	 * its end.
	 */
	call->easy = curl_easy_init();
	if (!call->easy)
		abort(); /* out of memory */
	if (httprequest_init(&call->request, request, call->easy, may_send_body, call, &call->unfit_err) < 0) {
		DL_APPEND(c->unfit, call);
		loop_task_queue(c->loop, &call->unfit_task);
		return call;
	}
	call->pool = c->pools;
	if (call->request.http2 && httpclear_is_needed(call->request.url))
		httpclear_init(&call->clear, &call->pool->clear);
	set_callbacks(call);
	DL_APPEND(call->pool->calls, call);
	watch_limits(call);
	if (httpmulti_inside(call->pool->multi))
		call->pool->untidy = true;
	else
		add_to_curl(call);
	return call;
}

void httpc_cancel(struct httpc_call *call)
{
	struct httpc *c;

	if (!call || call->ended)
		return;
	c = call->c;
	call->ended = true;
	loop_timer_cancel(&call->timer);
	if (!call->pool || !httpmulti_inside(call->pool->multi))
		call_free(call);
	else
		call->pool->untidy = true; /* freed when libcurl has returned */
	tidy(c);                           /* others may have waited for it to open a connection */
}

/* ---- Life ---- */

struct httpc *httpc_new(struct loop *loop, const struct httpc_config *config, struct err *err)
{
	struct httpc *c;

	if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		err_set(err, ERR_BUG, "libcurl does not start");
		return NULL;
	}
	c = mem_zalloc(sizeof(*c));
	c->loop = loop;
	c->config = *config;
	httpc_pool_new(c);
	return c;
}

void httpc_free(struct httpc *c)
{
	struct httpc_pool *pool;
	struct httpc_call *call;

	if (!c)
		return;
	c->freed = true;
	/* Inside a callback, the rest is freed after its return. */
	DL_FOREACH (c->pools, pool) {
		DL_FOREACH (pool->calls, call)
			call->ended = true;
	}
	tidy(c);
}

void httpc_drop_connections(struct httpc *c)
{
	retire(c);
	tidy(c);
}
