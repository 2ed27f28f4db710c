/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http/httphost.h"

#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/hash.h"
#include "base/hostport.h"
#include "base/mem.h"
#include "base/shares.h"
#include "base/text.h"
#include "net/http/httpaddresses.h"
#include "net/probe.h"

#define FORGET_MS 300000
/* Servers without requests that are remembered: redirects may name any number. */
#define IDLE_MAX 2048
#define IDLE_FEW 16
/* the longest time a request takes: others may use a given-up connection that long */
#define HTTP1_MS 120000

/*
 * The requests of one namespace to one server. Freed without requests, except the server's last
 * one.
 */
struct httphost_party {
	char *namespace_; /* owned; the host's key */
	unsigned under_way;
	struct httphost_turn *waiting;
	struct httphost_party **in; /* the list that it is in, resting or busy; NULL: none of its requests waits */
	struct httphost_party *prev, *next;
	UT_hash_handle hh;
};

enum protocol { UNKNOWN, HTTP1, HTTP2 };

struct httphost {
	struct loop *loop;
	struct httphost_table *table;
	char *origin;                    /* owned; the table's key */
	char *namespace_;                /* owned; of the newest request */
	struct httpaddresses *addresses; /* NULL: nothing to look up */
	int64_t used_ms;
	bool plain;
	enum protocol protocol; /* of the last connection */
	int64_t http1_until_ms;
	struct probe *probe;           /* NULL: behind a proxy */
	struct httphost_turn *waiting; /* in order of arrival */
	struct httphost_turn *running; /* in order of start */
	struct httphost_party *parties;
	/*
	 * namespaces with waiting requests, the next one first: those without requests under way,
	 * and the others
	 */
	struct httphost_party *resting, *busy;
	unsigned under_way, connecting;
	bool spared;
	struct loop_task pump;
	struct loop_timer patience;
	/* while it has no requests: the idle servers of the namespace that had the last one */
	struct httphost_idlers *idlers;
	struct shares_hold idle;
	struct httphost *idle_prev, *idle_next, *older, *newer;
	UT_hash_handle hh;
};

/* Idle servers whose last request was from this namespace. */
struct httphost_idlers {
	char *namespace_;       /* owned; the key */
	struct httphost *hosts; /* oldest first */
	UT_hash_handle hh;
};

struct httphost_table {
	struct loop *loop;
	const char *http_proxy; /* borrowed from the environment; NULL: left to libcurl */
	bool http_by_proxy, https_by_proxy;
	struct httphost *hosts;
	struct httphost_idlers *idlers;
	struct httphost *idle; /* of all namespaces, oldest first */
	struct shares idle_shares;
};

/* ---- Names ---- */

static void on_looked_up(void *arg)
{
	struct httphost *h = arg;

	loop_task_queue(h->loop, &h->pump);
}

bool httphost_looking_up(const struct httphost *h)
{
	return httpaddresses_are_awaited(h->addresses);
}

/* ---- Refusals ---- */

/* One at a time, the next ones in further tasks: the callback may free everything. */
static void refuse_first(struct httphost *h, const char *why)
{
	struct httphost_turn *turn = h->waiting;
	struct err err;

	err_set(&err, ERR_TEMPORARY, "%s: %s", h->origin, why);
	httphost_leave(turn);
	if (h->waiting)
		loop_task_queue(h->table->loop, &h->pump);
	turn->fn(turn->arg, &err);
}

/*
 * As for other connections (net/dial.h): a request from before the failed attempt gets its error, a
 * later one waits for the next attempt.
 */
static void wait_for_reach(struct httphost *h)
{
	if (probe_is_trying(h->probe))
		return;
	if (h->waiting->attempts < probe_attempts(h->probe))
		refuse_first(h, probe_lost(h->probe)->msg);
	else
		probe_want(h->probe);
}

static void on_probe(void *arg)
{
	struct httphost *h = arg;

	loop_task_queue(h->table->loop, &h->pump);
}

/* ---- Namespaces ---- */

static struct httphost_party *party_get(struct httphost *h, const char *namespace_)
{
	struct httphost_party *p;

	HASH_FIND_STR(h->parties, namespace_, p);
	if (!p) {
		p = mem_zalloc(sizeof(*p));
		p->namespace_ = mem_dup(namespace_);
		HASH_ADD_KEYPTR(hh, h->parties, p->namespace_, strlen(p->namespace_), p);
	}
	return p;
}

static void party_free(struct httphost *h, struct httphost_party *p)
{
	HASH_DELETE(hh, h->parties, p);
	free(p->namespace_);
	free(p);
}

/* Moves it to the end of the list where it belongs, or frees it if it has no requests. */
static void party_settle(struct httphost *h, struct httphost_party *p)
{
	struct httphost_party **to = !p->waiting ? NULL : p->under_way > 0 ? &h->busy : &h->resting;

	if (p->in)
		DL_DELETE(*p->in, p);
	p->in = to;
	if (to)
		DL_APPEND(*to, p);
	else if (p->under_way == 0 && HASH_COUNT(h->parties) > 1)
		party_free(h, p);
}

/* ---- Scheduling ---- */

static unsigned limit_of(const struct httphost *h)
{
	if (h->protocol == HTTP2 && !httphost_wants_http1(h))
		return HTTPHOST_STREAMS;
	return h->spared ? HTTPHOST_FEW : HTTPHOST_CONNECTIONS;
}

void httphost_spare(struct httphost *h)
{
	h->spared = true;
}

static bool has_room(const struct httphost *h)
{
	bool may_share = h->protocol != HTTP1 && !httphost_wants_http1(h);

	return h->under_way < limit_of(h) && (!may_share || h->connecting == 0);
}

/*
 * Time until a namespace with nothing under way may start in spite of the limit: when fewer than
 * the limit have started within the patience. With room, it is that of the request that is
 * connecting.
 */
static int64_t patience_left_ms(const struct httphost *h)
{
	const struct httphost_turn *turn = h->running ? h->running->prev : NULL;

	for (unsigned i = 1; h->under_way >= limit_of(h) && i < limit_of(h); i++)
		turn = turn->prev;
	return turn ? turn->started_ms + HTTPHOST_PATIENCE_MS - loop_now_ms(h->table->loop) : 0;
}

static struct httphost_party *next_party(const struct httphost *h)
{
	if (has_room(h))
		return h->resting ? h->resting : h->busy;
	return h->under_way < limit_of(h) + HTTPHOST_EXTRA && patience_left_ms(h) <= 0 ? h->resting : NULL;
}

static void start_first(struct httphost *h, struct httphost_party *p)
{
	struct httphost_turn *turn = p->waiting;

	DL_DELETE2(p->waiting, turn, party_prev, party_next);
	DL_DELETE(h->waiting, turn);
	DL_APPEND(h->running, turn);
	turn->under_way = turn->connecting = true;
	turn->started_ms = loop_now_ms(h->table->loop);
	h->under_way++;
	h->connecting++;
	p->under_way++;
	party_settle(h, p);
	turn->fn(turn->arg, NULL);
}

static void on_pump(void *arg)
{
	struct httphost *h = arg;
	struct httphost_party *next;

	if (httphost_looking_up(h) || !h->waiting)
		return;
	if (httpaddresses_trouble(h->addresses)) {
		refuse_first(h, httpaddresses_trouble(h->addresses));
		return;
	}
	if (probe_lost(h->probe)) {
		wait_for_reach(h);
		return;
	}
	while ((next = next_party(h)) != NULL)
		start_first(h, next);
	if (h->resting && patience_left_ms(h) > 0)
		loop_timer_set(&h->patience, patience_left_ms(h));
}

/* ---- Idle servers ---- */

static void host_free(void *arg);

static void idle_end(struct httphost *h)
{
	struct httphost_idlers *i = h->idlers;

	if (!i)
		return;
	h->idlers = NULL;
	shares_give(&h->idle, 1);
	DL_DELETE2(h->table->idle, h, older, newer);
	DL_DELETE2(i->hosts, h, idle_prev, idle_next);
	if (i->hosts)
		return;
	HASH_DELETE(hh, h->table->idlers, i);
	free(i->namespace_);
	free(i);
}

/* Freed at the end of the turn only: the host is borrowed. */
static void forget_host(struct httphost *h)
{
	idle_end(h);
	HASH_DELETE(hh, h->table->hosts, h);
	loop_free_later(h->loop, h, host_free);
}

static struct httphost_idlers *idlers_get(struct httphost_table *t, const char *namespace_)
{
	struct httphost_idlers *i;

	HASH_FIND_STR(t->idlers, namespace_, i);
	if (!i) {
		i = mem_zalloc(sizeof(*i));
		i->namespace_ = mem_dup(namespace_);
		HASH_ADD_KEYPTR(hh, t->idlers, i->namespace_, strlen(i->namespace_), i);
	}
	return i;
}

/* If the namespace's share is used up, evicts its oldest idle server. */
static void idle_begin(struct httphost *h)
{
	struct httphost_table *t = h->table;
	struct httphost_idlers *others;

	HASH_FIND_STR(t->idlers, h->namespace_, others);
	if (!shares_take(&t->idle_shares, &h->idle, h->namespace_, 1)) {
		if (others)
			forget_host(others->hosts);
		if (!others || !shares_take(&t->idle_shares, &h->idle, h->namespace_, 1)) {
			forget_host(h);
			return;
		}
	}
	h->idlers = idlers_get(t, h->namespace_);
	DL_APPEND2(h->idlers->hosts, h, idle_prev, idle_next);
	DL_APPEND2(t->idle, h, older, newer);
}

static void forget_old(struct httphost_table *t)
{
	int64_t now_ms = loop_now_ms(t->loop);

	while (t->idle && now_ms - t->idle->used_ms > FORGET_MS)
		forget_host(t->idle);
}

/* Lookups and probes count for the newest request's namespace. */
static void count_for(struct httphost *h, const char *namespace_)
{
	if (text_equal(h->namespace_, namespace_))
		return;
	free(h->namespace_);
	h->namespace_ = mem_dup(namespace_);
	if (h->probe)
		probe_count_for(h->probe, namespace_);
}

/* ---- Turns ---- */

void httphost_wait(struct httphost *h, struct httphost_turn *turn, const char *namespace_,
	void (*fn)(void *arg, const struct err *err), void *arg)
{
	*turn = (struct httphost_turn){ .host = h,
		.party = party_get(h, namespace_),
		.fn = fn,
		.arg = arg,
		.attempts = h->probe ? probe_attempts(h->probe) : 0 };
	idle_end(h);
	count_for(h, namespace_);
	DL_APPEND(h->waiting, turn);
	DL_APPEND2(turn->party->waiting, turn, party_prev, party_next);
	if (!turn->party->in)
		party_settle(h, turn->party);
	h->used_ms = loop_now_ms(h->table->loop);
	httpaddresses_want(h->addresses, namespace_);
	loop_task_queue(h->table->loop, &h->pump);
}

void httphost_leave(struct httphost_turn *turn)
{
	struct httphost *h = turn->host;

	if (!h)
		return;
	turn->host = NULL;
	if (turn->under_way) {
		DL_DELETE(h->running, turn);
		h->under_way--;
		h->connecting -= turn->connecting;
		turn->party->under_way--;
	} else {
		DL_DELETE(h->waiting, turn);
		DL_DELETE2(turn->party->waiting, turn, party_prev, party_next);
	}
	if (turn->under_way || !turn->party->waiting)
		party_settle(h, turn->party);
	if (turn->under_way && h->waiting)
		loop_task_queue(h->table->loop, &h->pump);
	if (!h->waiting && h->under_way == 0)
		idle_begin(h);
}

void httphost_connected(struct httphost_turn *turn, bool http2)
{
	struct httphost *h = turn->host;

	if (!h || !turn->connecting)
		return;
	turn->connecting = false;
	h->connecting--;
	if (!httphost_wants_http1(h))
		h->protocol = http2 ? HTTP2 : HTTP1;
	if (h->waiting)
		loop_task_queue(h->table->loop, &h->pump);
}

void httphost_unanswered(struct httphost *h)
{
	httpaddresses_doubt(h->addresses);
	if (h->probe)
		probe_doubt(h->probe);
}

const struct err *httphost_lost(const struct httphost *h)
{
	return probe_lost(h->probe);
}

void httphost_hung(struct httphost *h)
{
	h->http1_until_ms = loop_now_ms(h->table->loop) + HTTP1_MS;
}

bool httphost_wants_http1(const struct httphost *h)
{
	return loop_now_ms(h->table->loop) < h->http1_until_ms;
}

const char *httphost_proxy(const struct httphost *h)
{
	return h->plain ? h->table->http_proxy : NULL;
}

const char *httphost_addresses(const struct httphost *h)
{
	return httpaddresses_text(h->addresses);
}

const char *httphost_origin(const struct httphost *h)
{
	return h->origin;
}

/* ---- The table ---- */

static void host_free(void *arg)
{
	struct httphost *h = arg;
	struct httphost_turn *turn, *next;
	struct httphost_party *party, *after;

	DL_FOREACH_SAFE (h->waiting, turn, next)
		turn->host = NULL;
	DL_FOREACH_SAFE (h->running, turn, next)
		turn->host = NULL;
	HASH_ITER (hh, h->parties, party, after)
		party_free(h, party);
	loop_timer_done(&h->patience);
	httpaddresses_free(h->addresses);
	loop_task_cancel(h->loop, &h->pump);
	probe_free(h->probe);
	free(h->origin);
	free(h->namespace_);
	free(h);
}

struct httphost *httphost_get(struct httphost_table *t, const struct httpurl_place *place, const char *namespace_)
{
	bool plain = strcmp(place->scheme, "http") == 0, by_proxy = plain ? t->http_by_proxy : t->https_by_proxy;
	MEM_AUTO char *where = hostport_join(place->host, place->port);
	char *origin = mem_printf("%s://%s", place->scheme, where);
	struct httphost *h;

	HASH_FIND_STR(t->hosts, origin, h);
	if (h) {
		free(origin);
		return h;
	}
	forget_old(t);
	h = mem_zalloc(sizeof(*h));
	h->loop = t->loop;
	h->table = t;
	h->origin = origin;
	h->namespace_ = mem_dup(namespace_);
	if (!by_proxy && !httpaddresses_is_literal(place->host))
		h->addresses = httpaddresses_new(t->loop, place->host, place->port, on_looked_up, h);
	h->probe = by_proxy ? NULL : probe_new(t->loop, place->host, place->port, namespace_, on_probe, h);
	h->plain = plain;
	h->protocol = plain ? HTTP1 : UNKNOWN;
	loop_task_init(&h->pump, on_pump, h);
	loop_timer_init(&h->patience, t->loop, on_pump, h);
	HASH_ADD_KEYPTR(hh, t->hosts, h->origin, strlen(h->origin), h);
	return h;
}

static const char *environment(const char *name)
{
	const char *value = getenv(name);

	return value && *value ? value : NULL;
}

struct httphost_table *httphost_table_new(struct loop *loop)
{
	struct httphost_table *t = mem_zalloc(sizeof(*t));
	bool all = environment("all_proxy") || environment("ALL_PROXY");

	t->loop = loop;
	t->idle_shares = (struct shares){ .total = IDLE_MAX, .few = IDLE_FEW };
	t->http_proxy = environment("http_proxy") ? NULL : environment("HTTP_PROXY");
	t->http_by_proxy = all || t->http_proxy || environment("http_proxy");
	t->https_by_proxy = all || environment("https_proxy") || environment("HTTPS_PROXY");
	return t;
}

size_t httphost_known(const struct httphost_table *t)
{
	return HASH_COUNT(t->hosts);
}

void httphost_table_free(struct httphost_table *t)
{
	struct httphost *h, *next;

	if (!t)
		return;
	HASH_ITER (hh, t->hosts, h, next) {
		idle_end(h);
		HASH_DELETE(hh, t->hosts, h);
		host_free(h);
	}
	free(t);
}
