/* SPDX-License-Identifier: Apache-2.0 */
#include "net/web/webhost.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>
#include <utlist.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/hostport.h"
#include "base/mem.h"
#include "net/dns.h"
#include "net/probe.h"

/* Addresses this old are looked up again; a lookup that failed is not tried again for so long. */
#define ADDRESSES_MS 30000
#define FAILED_MS    1000
#define FORGET_MS    300000
#define HTTP1_MS     60000

struct webhost {
	struct webhost_table *table;
	char *origin; /* owned; the table's key */
	char *name;   /* owned; NULL when there is nothing to look up */
	uint16_t port;
	char *addresses; /* owned; NULL: not known */
	bool stale;      /* they did not answer */
	struct err *err; /* owned; of the last lookup, if it failed */
	int64_t looked_ms, used_ms;
	int64_t http1_until_ms;
	struct dns_lookup *lookup;
	struct probe *probe; /* NULL: behind a proxy */
	struct webhost_turn *waiting;
	unsigned under_way;
	struct loop_task pump;
	UT_hash_handle hh;
};

struct webhost_table {
	struct loop *loop;
	struct webhost *hosts;
};

/* ---- Names ---- */

static void put_address(struct buf *out, const struct dns_address *a)
{
	char text[INET6_ADDRSTRLEN] = "";

	if (a->sa.ss_family == AF_INET6) {
		inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)&a->sa)->sin6_addr, text, sizeof(text));
		buf_printf(out, "[%s]", text);
	} else {
		inet_ntop(AF_INET, &((const struct sockaddr_in *)&a->sa)->sin_addr, text, sizeof(text));
		buf_puts(out, text);
	}
}

static void on_found(void *arg, const struct dns_address *addresses, size_t count, const struct err *err)
{
	struct webhost *h = arg;
	struct buf out = BUF_INIT(4096);

	h->lookup = NULL;
	h->looked_ms = loop_now_ms(h->table->loop);
	h->stale = false;
	err_keep(&h->err, err);
	if (!err) {
		/* The plus makes it an ordinary entry of libcurl's cache, which ends. */
		buf_printf(&out, "+%s:%u:", h->name, h->port);
		for (size_t i = 0; i < count; i++) {
			buf_puts(&out, i > 0 ? "," : "");
			put_address(&out, &addresses[i]);
		}
		free(h->addresses);
		h->addresses = buf_take(&out);
	}
	loop_task_queue(h->table->loop, &h->pump);
}

static void look_up_if_due(struct webhost *h)
{
	int64_t age_ms = loop_now_ms(h->table->loop) - h->looked_ms;

	if (!h->name || h->lookup || (h->looked_ms && age_ms < FAILED_MS))
		return;
	if (!h->addresses || h->stale || age_ms > ADDRESSES_MS)
		h->lookup = dns_lookup_start(h->table->loop, h->name, h->port, on_found, h);
}

bool webhost_looking_up(const struct webhost *h)
{
	return h->lookup && (!h->addresses || h->stale);
}

/* ---- Turns ---- */

/*
 * Whoever is refused may free all of this in its callback: one at a time, the rest by another run.
 */
static void refuse_first(struct webhost *h, const char *why)
{
	struct webhost_turn *turn = h->waiting;
	struct err err;

	err_set(&err, ERR_TEMPORARY, "%s: %s", h->origin, why);
	webhost_leave(turn);
	if (h->waiting)
		loop_task_queue(h->table->loop, &h->pump);
	turn->fn(turn->arg, &err);
}

/*
 * As with the connections of others (net/dial.h): who came before the attempt that failed is told
 * so, who came later waits for the next.
 */
static void wait_for_reach(struct webhost *h)
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
	struct webhost *h = arg;

	loop_task_queue(h->table->loop, &h->pump);
}

static void on_pump(void *arg)
{
	struct webhost *h = arg;

	if (webhost_looking_up(h) || !h->waiting)
		return;
	if (h->name && !h->addresses) {
		refuse_first(h, h->err ? h->err->msg : "the name cannot be looked up");
		return;
	}
	if (probe_lost(h->probe)) {
		wait_for_reach(h);
		return;
	}
	while (h->waiting && h->under_way < WEBHOST_UNDER_WAY) {
		struct webhost_turn *turn = h->waiting;

		DL_DELETE(h->waiting, turn);
		turn->under_way = true;
		h->under_way++;
		turn->fn(turn->arg, NULL);
	}
}

void webhost_wait(struct webhost *h, struct webhost_turn *turn, void (*fn)(void *arg, const struct err *err), void *arg)
{
	*turn = (struct webhost_turn){ .host = h,
		.fn = fn,
		.arg = arg,
		.attempts = h->probe ? probe_attempts(h->probe) : 0 };
	DL_APPEND(h->waiting, turn);
	h->used_ms = loop_now_ms(h->table->loop);
	look_up_if_due(h);
	loop_task_queue(h->table->loop, &h->pump);
}

void webhost_leave(struct webhost_turn *turn)
{
	struct webhost *h = turn->host;

	if (!h)
		return;
	turn->host = NULL;
	if (turn->under_way) {
		h->under_way--;
		if (h->waiting)
			loop_task_queue(h->table->loop, &h->pump);
	} else {
		DL_DELETE(h->waiting, turn);
	}
}

void webhost_unanswered(struct webhost *h)
{
	h->stale = true;
	if (h->probe)
		probe_doubt(h->probe);
}

const struct err *webhost_lost(const struct webhost *h)
{
	return probe_lost(h->probe);
}

void webhost_hung(struct webhost *h)
{
	h->http1_until_ms = loop_now_ms(h->table->loop) + HTTP1_MS;
}

bool webhost_wants_http1(const struct webhost *h)
{
	return loop_now_ms(h->table->loop) < h->http1_until_ms;
}

const char *webhost_addresses(const struct webhost *h)
{
	return h->addresses;
}

const char *webhost_origin(const struct webhost *h)
{
	return h->origin;
}

/* ---- The table ---- */

static bool is_literal(const char *host)
{
	unsigned char address[16];

	return inet_pton(AF_INET, host, address) == 1 || inet_pton(AF_INET6, host, address) == 1;
}

static void host_free(struct webhost *h)
{
	struct webhost_turn *turn, *next;

	HASH_DELETE(hh, h->table->hosts, h);
	DL_FOREACH_SAFE (h->waiting, turn, next)
		turn->host = NULL;
	dns_lookup_cancel(h->lookup);
	loop_task_cancel(h->table->loop, &h->pump);
	probe_free(h->probe);
	err_keep(&h->err, NULL);
	free(h->addresses);
	free(h->origin);
	free(h->name);
	free(h);
}

static void sweep(struct webhost_table *t)
{
	int64_t now_ms = loop_now_ms(t->loop);
	struct webhost *h, *next;

	HASH_ITER (hh, t->hosts, h, next)
		if (!h->waiting && h->under_way == 0 && !h->lookup && now_ms - h->used_ms > FORGET_MS)
			host_free(h);
}

struct webhost *webhost_get(struct webhost_table *t, const struct httpurl_place *place, bool by_proxy)
{
	MEM_AUTO char *where = hostport_join(place->host, place->port);
	char *origin = mem_printf("%s://%s", place->scheme, where);
	struct webhost *h;

	HASH_FIND_STR(t->hosts, origin, h);
	if (h) {
		free(origin);
		return h;
	}
	sweep(t);
	h = mem_zalloc(sizeof(*h));
	h->table = t;
	h->origin = origin;
	h->name = by_proxy || is_literal(place->host) ? NULL : mem_dup(place->host);
	h->port = place->port;
	h->probe = by_proxy ? NULL : probe_new(t->loop, place->host, place->port, on_probe, h);
	loop_task_init(&h->pump, on_pump, h);
	HASH_ADD_KEYPTR(hh, t->hosts, h->origin, strlen(h->origin), h);
	return h;
}

struct webhost_table *webhost_table_new(struct loop *loop)
{
	struct webhost_table *t = mem_zalloc(sizeof(*t));

	t->loop = loop;
	return t;
}

void webhost_table_free(struct webhost_table *t)
{
	struct webhost *h, *next;

	if (!t)
		return;
	HASH_ITER (hh, t->hosts, h, next)
		host_free(h);
	free(t);
}
