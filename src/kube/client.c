/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/client.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "kube/objecttext.h"
#include "kube/session.h"
#include "kube/status.h"
#include "kube/watchstream.h"

#define DEADLINE_DEFAULT_MS 10000
#define TOO_MANY_WAIT_MS    1000        /* after a 429 without Retry-After, as in client-go */
#define LIST_SIZE_MAX       (32u << 20) /* of one page; an object is at most 1.5 MiB (etcd's limit) */

/*
 * Limit of calls under way, over all priorities: below the 100 streams of one HTTP/2 connection, so
 * that short calls share one, and a fraction of what the API server takes at once (400 reads and
 * 200 writes). Writes of /scale have the most room: hundreds of objects woken at once wait only for
 * the server; reads and reviews find room beside them. The Lease always does. Statuses and Events
 * leave room for a /scale that comes after them, and wait while there are many. A class with no
 * call under way may send one beyond the limit: scaling goes first, but statuses and Events flow,
 * however much of it there is. Calls caused by third parties go while there is little else, a few
 * at a time, and take no one's place: no other class counts them.
 */
#define IN_FLIGHT_MAX 32
static const struct room {
	unsigned own;      /* limit of this class's calls under way */
	unsigned together; /* limit together with all others */
	bool beside_scale; /* except writes of /scale, which it need not wait for */
} rooms[KUBE_PRIORITIES] = {
	[KUBE_URGENT] = { 40, 40, true },
	[KUBE_SCALE] = { 56, 96, false },
	[KUBE_NORMAL] = { IN_FLIGHT_MAX, IN_FLIGHT_MAX, true },
	[KUBE_STATUS] = { 16, IN_FLIGHT_MAX, false },
	[KUBE_BACKGROUND] = { 8, IN_FLIGHT_MAX, false },
	[KUBE_ASIDE] = { 4, IN_FLIGHT_MAX / 2, false },
};

static const struct verb {
	const char *name; /* in metrics */
	const char *method;
	const char *content_type; /* of the body */
	bool writes;
} verbs[] = {
	[KUBE_GET] = { "get", "GET", NULL, false },
	[KUBE_LIST] = { "list", "GET", NULL, false },
	[KUBE_CREATE] = { "create", "POST", "Content-Type: application/json", true },
	[KUBE_UPDATE] = { "update", "PUT", "Content-Type: application/json", true },
	[KUBE_MERGE_PATCH] = { "patch", "PATCH", "Content-Type: application/merge-patch+json", true },
	[KUBE_APPLY] = { "apply", "PATCH", "Content-Type: application/apply-patch+yaml", true },
	[KUBE_DELETE] = { "delete", "DELETE", "Content-Type: application/json", true },
	[KUBE_REVIEW] = { "create", "POST", "Content-Type: application/json", false },
};

static const char *const priority_names[KUBE_PRIORITIES] = { "urgent", "scale", "normal", "status", "background",
	"aside" };

enum call_state {
	CALL_QUEUED, /* in its queue */
	CALL_SENT,
	CALL_WAITING, /* for the server's Retry-After; then queued again */
	CALL_FAILING, /* its callback is called at the end of the turn */
	CALL_DONE,    /* no callback any more */
};

struct kube {
	struct session session; /* shared with the streams */
	struct httpc *call_pool;
	struct watchstreams streams;
	int64_t writes_until_ms; /* 0: no limit */

	/*
	 * A call is in one of these lists: in its priority's queue until it is sent, then among
	 * those under way.
	 */
	struct kube_call *queued[KUBE_PRIORITIES];
	struct kube_call *under_way;
	unsigned queued_count[KUBE_PRIORITIES];
	unsigned sent_count, sent_by[KUBE_PRIORITIES];

	struct counters_family *in_flight, *waiting; /* likewise counted */
};

struct kube_call {
	struct kube *k;
	struct kube_call *prev, *next;
	enum call_state state;
	enum kube_priority priority;
	const struct verb *verb;
	size_t max_body;
	enum kube_answer answer;
	objecttext_known_fn is_known;
	char *path;
	char *body; /* maybe secret; NULL */
	int64_t deadline_at_ms, sent_at_ms;
	kube_fn fn;
	void *arg;
	void (*free_arg)(void *);

	struct httpc_call *http;         /* while sent */
	struct credentials *credentials; /* held, while sent */
	struct loop_timer timer;         /* queued: the deadline; waiting: the end of the wait */
	struct loop_task fail_task;
	struct err *failure; /* owned; while failing */
	bool resent_with_credentials, resent_after_break;
};

static void on_timer(void *arg);
static void on_fail_task(void *arg);
static void on_done(void *arg, const struct httpc_response *response, const struct err *err);

/* ---- Credentials ---- */

/* A new token is used by the next request; any other change needs new connections. */
static bool same_connection(const struct credentials *a, const struct credentials *b)
{
	return text_equal(a->server, b->server) && text_equal(a->reach.ca_pem, b->reach.ca_pem) &&
		text_equal(a->reach.cert_pem, b->reach.cert_pem) && text_equal(a->reach.key_pem, b->reach.key_pem) &&
		text_equal(a->reach.tls_server_name, b->reach.tls_server_name) &&
		text_equal(a->reach.proxy_url, b->reach.proxy_url) && a->reach.insecure == b->reach.insecure;
}

int kube_refresh(struct kube *k, bool *changed, struct err *err)
{
	struct credentials *old = k->session.credentials;

	*changed = false;
	k->session.refreshed_at_ms = loop_now_ms(k->session.loop);
	if (kube_config_refresh(k->session.config, changed, err) < 0)
		return -1;
	if (!*changed)
		return 0;
	k->session.credentials = credentials_new(k->session.config);
	if (!same_connection(old, k->session.credentials)) {
		httpc_drop_connections(k->call_pool);
		watchstream_reset_links(&k->streams);
	}
	credentials_release(old);
	log_debug("kube", "the credentials changed (%s)", k->session.config->source);
	return 0;
}

/* Whether the credentials have changed. */
static bool refresh(struct kube *k, struct err *err)
{
	bool changed;

	return kube_refresh(k, &changed, err) == 0 && changed;
}

static void on_refresh_task(void *arg)
{
	struct kube *k = arg;
	struct err err;

	err_clear(&err);
	if (!refresh(k, &err) && err.kind != ERR_NONE)
		log_debug("kube", "%s; keeping the present ones", err.msg);
}

/* ---- States and lists ---- */

static struct kube_call **list_of(struct kube_call *c)
{
	return c->state == CALL_QUEUED ? &c->k->queued[c->priority] : &c->k->under_way;
}

static void show_gauges(struct kube *k)
{
	if (!k->session.requests)
		return;
	counters_set(k->in_flight, NULL, k->sent_count);
	for (int p = 0; p < KUBE_PRIORITIES; p++)
		counters_set(k->waiting, &priority_names[p], k->queued_count[p]);
}

static void count_state(const struct kube_call *c, int delta)
{
	struct kube *k = c->k;

	if (c->state == CALL_QUEUED)
		k->queued_count[c->priority] += (unsigned)delta;
	if (c->state == CALL_SENT)
		k->sent_count += (unsigned)delta;
	if (c->state == CALL_SENT)
		k->sent_by[c->priority] += (unsigned)delta;
}

static void call_free(void *arg)
{
	struct kube_call *c = arg;

	loop_timer_done(&c->timer);
	if (c->free_arg)
		c->free_arg(c->arg);
	free(c->failure);
	mem_free_secret(c->body);
	free(c->path);
	free(c);
}

/* Removes the call from its list. */
static void call_leave(struct kube_call *c)
{
	struct kube_call **list = list_of(c);

	DL_DELETE(*list, c);
	count_state(c, -1);
	loop_timer_cancel(&c->timer);
	loop_task_cancel(c->k->session.loop, &c->fail_task);
	httpc_cancel(c->http);
	c->http = NULL;
	credentials_release(c->credentials);
	c->credentials = NULL;
}

/* All changes of state go through here. */
static void call_enter(struct kube_call *c, enum call_state to)
{
	struct kube *k = c->k;

	call_leave(c);
	c->state = to;
	if (to == CALL_DONE) {
		loop_free_later(k->session.loop, c, call_free);
	} else {
		struct kube_call **list = list_of(c);

		/* A call that waited for Retry-After goes to the front. */
		DL_PREPEND(*list, c);
		count_state(c, 1);
	}
	if (to == CALL_QUEUED)
		loop_timer_set(&c->timer, c->deadline_at_ms - loop_now_ms(k->session.loop));
	if (to == CALL_FAILING)
		loop_task_queue(k->session.loop, &c->fail_task);
	show_gauges(k);
}

static int64_t left_ms(const struct kube_call *c)
{
	return c->deadline_at_ms - loop_now_ms(c->k->session.loop);
}

static void call_fail_later(struct kube_call *c, const struct err *err)
{
	err_keep(&c->failure, err);
	call_enter(c, CALL_FAILING);
}

/* ---- Sending ---- */

static bool has_room(const struct kube *k, enum kube_priority priority)
{
	const struct room *room = &rooms[priority];
	unsigned others = k->sent_count - k->sent_by[KUBE_ASIDE] - (room->beside_scale ? k->sent_by[KUBE_SCALE] : 0);
	bool is_first = k->sent_by[priority] == 0 && priority != KUBE_ASIDE;

	return k->sent_by[priority] < room->own && (others < room->together || is_first);
}

/*
 * The deadline also limits the write at the API server: otherwise a webhook, its queue or etcd
 * could complete it after another process holds the Lease, and a stopped process cannot cancel it.
 * The caller frees the result.
 */
static char *url_of(const struct kube_call *c, int64_t within_ms)
{
	const char *server = c->k->session.credentials->server;

	if (!c->verb->writes)
		return mem_printf("%s%s", server, c->path);
	return mem_printf("%s%s%ctimeout=%lldms", server, c->path, strchr(c->path, '?') ? '&' : '?',
		(long long)within_ms);
}

static void call_send(struct kube_call *c, int64_t within_ms)
{
	struct kube *k = c->k;
	MEM_AUTO char *url = url_of(c, within_ms);
	const char *headers[] = { "Accept: application/json", session_user_agent,
		c->body ? c->verb->content_type : NULL, NULL };
	struct httpc_request request = {
		.method = c->verb->method,
		.url = url,
		.headers = headers,
		.bearer = k->session.credentials->token,
		.body = c->body,
		.body_len = c->body ? strlen(c->body) : 0,
		.deadline_ms = within_ms,
		.in_time = c->verb->writes,
		.max_body = c->max_body,
		.server = &k->session.credentials->reach,
	};
	static const struct httpc_events events = { .on_done = on_done };

	call_enter(c, CALL_SENT);
	c->sent_at_ms = loop_now_ms(k->session.loop);
	c->credentials = credentials_hold(k->session.credentials);
	c->http = httpc_start(k->call_pool, &request, &events, c);
}

static void say_not_sent(const struct kube_call *c, struct err *err)
{
	err_set(err, ERR_TEMPORARY, "%s %s: timed out before it could be sent (%u calls under way)", c->verb->method,
		c->path, c->k->sent_count);
}

/*
 * After the process was stopped the timer may be late; a queued write must not be sent after the
 * Lease was lost.
 */
static void send_or_fail(struct kube_call *c)
{
	int64_t within_ms = left_ms(c);
	struct err err;

	if (within_ms > 0) {
		call_send(c, within_ms);
		return;
	}
	say_not_sent(c, &err);
	call_fail_later(c, &err);
}

static void send_what_fits(struct kube *k)
{
	for (int p = 0; p < KUBE_PRIORITIES; p++)
		while (k->queued[p] && has_room(k, (enum kube_priority)p))
			send_or_fail(k->queued[p]);
}

/* ---- The end of a call ---- */

/* Must be the last use of the call's client: the callback may free it. */
static void call_finish(struct kube_call *c, const json_t *object, const struct err *err)
{
	struct kube *k = c->k;

	call_enter(c, CALL_DONE);
	send_what_fits(k);
	c->fn(c->arg, object, err);
}

static void on_fail_task(void *arg)
{
	struct kube_call *c = arg;

	call_finish(c, NULL, c->failure);
}

static void on_timer(void *arg)
{
	struct kube_call *c = arg;
	struct kube *k = c->k;
	struct err err;

	if (c->state == CALL_WAITING) {
		call_enter(c, CALL_QUEUED);
		send_what_fits(k);
		return;
	}
	say_not_sent(c, &err);
	call_finish(c, NULL, &err);
}

/* ---- Answers ---- */

static void send_again(struct kube_call *c)
{
	struct kube *k = c->k;

	call_enter(c, CALL_QUEUED);
	send_what_fits(k);
}

/*
 * No answer: a read is retried once at once, for a server that closed the connection (GOAWAY at a
 * restart). A write may have been carried out. (libcurl itself repeats any request when a reused
 * connection is cut.)
 */
static void on_no_answer(struct kube_call *c, const struct err *err)
{
	struct err wrapped = *err;

	session_unanswered(&c->k->session, c->verb->name, err);
	watchstream_check_links(&c->k->streams, c->sent_at_ms);
	if (err->kind == ERR_TEMPORARY && !c->verb->writes && !c->resent_after_break && left_ms(c) > 0) {
		c->resent_after_break = true;
		send_again(c);
		return;
	}
	err_wrap(&wrapped, "%s %s", c->verb->method, c->path);
	call_finish(c, NULL, &wrapped);
}

static bool with_other_credentials(struct kube_call *c, struct err *err)
{
	struct err refresh_err;

	if (c->resent_with_credentials)
		return false;
	c->resent_with_credentials = true;
	err_clear(&refresh_err);
	/* Another call may have reloaded them already. */
	if (c->credentials != c->k->session.credentials || refresh(c->k, &refresh_err))
		return true;
	if (refresh_err.kind != ERR_NONE)
		err_wrap(err, "%s", refresh_err.msg);
	return false;
}

/* The delay that the server requests before a retry; 0: none. (client-go: rest/with_retry.go) */
static int64_t wait_asked_ms(int http_status, const struct err *err)
{
	if (http_status != 429 && http_status < 500)
		return 0;
	if (err->retry_after_ms > 0)
		return err->retry_after_ms;
	return http_status == 429 ? TOO_MANY_WAIT_MS : 0;
}

static void on_refused(struct kube_call *c, const struct httpc_response *response)
{
	struct err err;
	int64_t wait_ms;

	status_to_err(response->status, response->body, response->len, response->retry_after_ms, &err);
	if (response->status == 401 && with_other_credentials(c, &err)) {
		send_again(c);
		return;
	}
	wait_ms = wait_asked_ms(response->status, &err);
	if (wait_ms > 0 && wait_ms < left_ms(c)) {
		call_enter(c, CALL_WAITING);
		loop_timer_set(&c->timer, wait_ms);
		return;
	}
	call_finish(c, NULL, &err);
}

static void on_answered(struct kube_call *c, const struct httpc_response *response)
{
	struct err err;
	json_t *object = NULL;
	bool known = false;

	if (response->len > 0 && c->answer != KUBE_ANSWER_IGNORED) {
		object = c->is_known ? objecttext_parse_news(response->body, response->len, c->is_known, c->arg, &known)
				     : objecttext_parse(response->body, response->len, c->answer == KUBE_ANSWER_WHOLE);
		if (!object && !known) {
			/*
			 * Probably from a proxy, so temporary. The parser's message would quote the
			 * body, which may be secret.
			 */
			err_set(&err, ERR_TEMPORARY, "%s %s: HTTP %d with a body that is not JSON", c->verb->method,
				c->path, response->status);
			call_finish(c, NULL, &err);
			return;
		}
	}
	call_finish(c, object, NULL);
	json_decref(object);
}

static void on_done(void *arg, const struct httpc_response *response, const struct err *err)
{
	struct kube_call *c = arg;

	c->http = NULL;
	if (err) {
		on_no_answer(c, err);
		return;
	}
	log_debug("kube", "%s %s: %d in %lld ms", c->verb->method, c->path, response->status,
		(long long)response->took_ms);
	session_answered(&c->k->session, c->verb->name, response->status);
	if (response->status >= 200 && response->status <= 299)
		on_answered(c, response);
	else
		on_refused(c, response);
}

/* ---- The interface ---- */

static void limit_deadline(struct kube_call *c)
{
	const struct kube *k = c->k;
	struct err err;

	if (!c->verb->writes || c->priority == KUBE_URGENT || k->writes_until_ms == 0)
		return;
	if (c->deadline_at_ms > k->writes_until_ms)
		c->deadline_at_ms = k->writes_until_ms;
	if (left_ms(c) > 0)
		return;
	err_set(&err, ERR_TEMPORARY, "%s %s: not sent: the time in which this process may write has ended",
		c->verb->method, c->path);
	call_fail_later(c, &err);
}

struct kube_call *kube_call_owning(struct kube *k, const struct kube_request *request, kube_fn fn, void *arg,
	void (*free_arg)(void *))
{
	struct kube_call *c = mem_zalloc(sizeof *c);
	int64_t deadline_ms = request->deadline_ms > 0 ? request->deadline_ms : DEADLINE_DEFAULT_MS;

	session_refresh_if_due(&k->session);
	c->k = k;
	c->priority = request->priority;
	c->verb = &verbs[request->verb];
	c->max_body = request->verb == KUBE_LIST ? LIST_SIZE_MAX : 0;
	c->answer = request->answer;
	c->is_known = request->is_known;
	c->path = mem_dup(request->path);
	c->body = mem_dup(request->body);
	c->deadline_at_ms = loop_now_ms(k->session.loop) + deadline_ms;
	c->fn = fn;
	c->arg = arg;
	c->free_arg = free_arg;
	loop_timer_init(&c->timer, k->session.loop, on_timer, c);
	loop_task_init(&c->fail_task, on_fail_task, c);
	c->state = CALL_QUEUED;
	DL_APPEND(k->queued[c->priority], c);
	count_state(c, 1);
	loop_timer_set(&c->timer, deadline_ms);
	limit_deadline(c);
	send_what_fits(k);
	show_gauges(k);
	return c;
}

struct kube_call *kube_call(struct kube *k, const struct kube_request *request, kube_fn fn, void *arg)
{
	return kube_call_owning(k, request, fn, arg, NULL);
}

void kube_cancel(struct kube_call *c)
{
	struct kube *k;

	if (!c || c->state == CALL_DONE)
		return;
	k = c->k;
	call_enter(c, CALL_DONE);
	send_what_fits(k);
}

/* ---- Writes and the Lease ---- */

static void abort_writes_of(struct kube_call *list)
{
	struct kube_call *c, *next;
	struct err err;

	err_set(&err, ERR_TEMPORARY, "aborted: this process may not write any more");
	DL_FOREACH_SAFE (list, c, next)
		if (c->verb->writes && c->priority != KUBE_URGENT && c->state != CALL_FAILING)
			call_fail_later(c, &err);
}

void kube_abort_writes(struct kube *k)
{
	abort_writes_of(k->under_way); /* first: the queues' calls come into this list */
	for (int p = 0; p < KUBE_PRIORITIES; p++)
		abort_writes_of(k->queued[p]);
	send_what_fits(k);
}

void kube_set_write_limit(struct kube *k, int64_t until_ms)
{
	k->writes_until_ms = until_ms;
}

/* ---- The client ---- */

static void declare_counters(struct kube *k, struct counters *counters)
{
	static const char *const by_verb[] = { "verb", "code", NULL }, *const by_priority[] = { "priority", NULL },
				 *const plain[] = { NULL };

	if (!counters)
		return;
	k->session.requests = counters_declare(counters, COUNTERS_COUNTER, "kscaled_kube_requests_total",
		"Requests to the API server; code \"error\" when no answer came.", by_verb);
	k->in_flight = counters_declare(counters, COUNTERS_GAUGE, "kscaled_kube_requests_in_flight",
		"Requests to the API server under way, without watches.", plain);
	k->waiting = counters_declare(counters, COUNTERS_GAUGE, "kscaled_kube_requests_queued",
		"Queued requests to the API server.", by_priority);
}

struct kube *kube_new(struct loop *loop, struct kube_config *config, struct counters *counters, struct err *err)
{
	static const struct httpc_config call_config = { .one_server = true };
	struct kube *k = mem_zalloc(sizeof *k);

	k->session.loop = loop;
	k->streams.session = &k->session;
	k->session.config = config;
	k->session.credentials = credentials_new(config);
	k->session.refreshed_at_ms = loop_now_ms(loop);
	loop_task_init(&k->session.refresh_task, on_refresh_task, k);
	declare_counters(k, counters);
	k->call_pool = httpc_new(loop, &call_config, err);
	if (!k->call_pool) {
		kube_free(k);
		return NULL;
	}
	return k;
}

static void drop_calls(struct kube_call **list)
{
	while (*list)
		call_enter(*list, CALL_DONE);
}

void kube_free(struct kube *k)
{
	if (!k)
		return;
	for (int p = 0; p < KUBE_PRIORITIES; p++)
		drop_calls(&k->queued[p]);
	drop_calls(&k->under_way);
	watchstream_free_links(&k->streams);
	loop_task_cancel(k->session.loop, &k->session.refresh_task);
	httpc_free(k->call_pool);
	credentials_release(k->session.credentials);
	free(k);
}

const char *kube_trouble(struct kube *k)
{
	return session_trouble(&k->session);
}

struct watchstreams *kube_watchstreams(struct kube *k)
{
	return &k->streams;
}

struct loop *kube_loop(struct kube *k)
{
	return k->session.loop;
}

char *kube_escape(const char *text, char *out, size_t size)
{
	struct buf escaped = BUF_INIT(size > 0 ? size - 1 : 0);
	bool fits;

	buf_put_percent(&escaped, text, "");
	fits = size > 0 && !buf_failed(&escaped);
	if (fits)
		strcpy(out, buf_text(&escaped));
	buf_done(&escaped);
	return fits ? out : NULL;
}
