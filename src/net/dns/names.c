/* SPDX-License-Identifier: Apache-2.0 */
#include "net/dns/names.h"

#include <event2/event.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <utlist.h>

#include "base/fairqueue.h"
#include "base/hash.h"
#include "base/mem.h"
#include "base/shares.h"
#include "net/dns/resolver.h"

#define SWEEP_MS  1000
#define FORGET_MS 60000 /* the count of failures is kept this long after its last use */
#define FEW       16    /* how much of the reserve one namespace may take */

enum name_state { IDLE, RESTING, QUEUED, ASKED };

struct known_name {
	char *key; /* the kind as one letter, and the name */
	enum dnsrecord_kind kind;
	struct names *names;
	enum name_state state;
	struct names_asker *askers;
	unsigned failures; /* in a row */
	int64_t until_ms;  /* until then the answer is valid, or the back-off lasts */
	const char *why;   /* if there is nothing of the kind: the reason, a constant text */
	size_t count;
	struct dns_address *addresses;
	struct dnsrecord_list records; /* instead of addresses */
	struct event *rested;
	char *namespace_;         /* owned; of the first request */
	struct shares_hold share; /* of the cache */
	struct fairqueue_entry turn;
	UT_hash_handle hh;
};

struct names {
	struct event_base *base;
	void (*on_work)(void *arg);
	void *arg;
	struct resolver *resolver;
	struct known_name *known;
	struct shares remembered;
	struct fairqueue fresh, failed;
	bool filling;
	unsigned generation;
	int64_t swept_ms;
};

static int64_t now_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_BOOTTIME, &ts);
	return (int64_t)ts.tv_sec * 1000 + ts.tv_nsec / 1000000;
}

/* ---- The cache ---- */

static void name_free(struct known_name *name)
{
	HASH_DEL(name->names->known, name);
	fairqueue_leave(&name->turn);
	fairqueue_end(&name->turn);
	shares_give(&name->share, 1);
	if (name->rested)
		event_free(name->rested);
	free(name->addresses);
	dnsrecord_done(&name->records);
	free(name->namespace_);
	free(name->key);
	free(name);
}

static void sweep(struct names *n, int64_t now)
{
	struct known_name *name, *next;

	if (now - n->swept_ms < SWEEP_MS)
		return;
	n->swept_ms = now;
	HASH_ITER (hh, n->known, name, next) {
		if (!name->askers && name->state == IDLE && now >= name->until_ms + (name->failures ? FORGET_MS : 0))
			name_free(name);
	}
}

/* After a change of resolv.conf or hosts earlier results are not trusted. */
static void distrust(struct names *n)
{
	struct known_name *name, *next;

	HASH_ITER (hh, n->known, name, next) {
		name->until_ms = 0;
		name->failures = 0;
	}
}

static char letter_of(enum dnsrecord_kind kind)
{
	switch (kind) {
	case DNSRECORD_SRV: return 'S';
	case DNSRECORD_TXT: return 'T';
	case DNSRECORD_ADDRESS: break;
	}
	return 'A';
}

/* NULL: the namespace has used up its share. */
static struct known_name *name_get(struct names *n, const char *host, enum dnsrecord_kind kind, const char *namespace_)
{
	MEM_AUTO char *key = mem_printf("%c%s", letter_of(kind), host);
	struct shares_hold share = { 0 };
	struct known_name *name;

	HASH_FIND_STR(n->known, key, name);
	if (name || !shares_take(&n->remembered, &share, namespace_, 1))
		return name;
	name = mem_zalloc(sizeof(*name));
	name->key = mem_dup(key);
	name->kind = kind;
	name->namespace_ = mem_dup(namespace_);
	name->names = n;
	name->share = share;
	HASH_ADD_KEYPTR(hh, n->known, name->key, strlen(name->key), name);
	return name;
}

/* ---- Asking ---- */

static void fill(struct names *n);

/* Only those that wait now: a callback may ask again, and then gets the next result. */
static void tell_all(struct known_name *name, const struct names_answer *answer)
{
	struct names_asker *a;
	size_t left;

	DL_COUNT(name->askers, a, left);
	for (; left > 0 && name->askers; left--) {
		a = name->askers;
		DL_DELETE(name->askers, a);
		a->name = NULL;
		a->fn(a->arg, answer);
	}
}

static void keep_answer(struct known_name *name, const struct resolver_answer *answer)
{
	mem_free_ptr(&name->addresses);
	dnsrecord_done(&name->records);
	name->count = answer->verdict == RESOLVER_FOUND ? answer->count : 0;
	name->why = answer->verdict == RESOLVER_NONE ? answer->why : NULL;
	if (name->count && name->kind != DNSRECORD_ADDRESS) {
		dnsrecord_copy(&answer->records, &name->records);
	} else if (name->count) {
		name->addresses = mem_array(name->count, sizeof(*name->addresses));
		memcpy(name->addresses, answer->addresses, name->count * sizeof(*name->addresses));
	}
}

static int64_t found_ms(enum dnsrecord_kind kind, int64_t ttl_ms)
{
	int64_t least = kind == DNSRECORD_ADDRESS ? 0 : NAMES_RECORDS_MIN_MS;
	int64_t most = kind == DNSRECORD_ADDRESS ? NAMES_KEEP_MAX_MS : NAMES_RECORDS_MAX_MS;

	return ttl_ms < least ? least : ttl_ms < most ? ttl_ms : most;
}

static int64_t kept_ms(struct known_name *name, const struct resolver_answer *answer)
{
	int64_t ms = NAMES_REST_MS;

	if (answer->verdict != RESOLVER_FAILED) {
		name->failures = 0;
		return answer->verdict == RESOLVER_NONE ? NAMES_NONE_MS : found_ms(name->kind, answer->ttl_ms);
	}
	for (unsigned i = 0; i < name->failures && ms < NAMES_REST_MAX_MS; i++)
		ms *= 2;
	name->failures++;
	return ms < NAMES_REST_MAX_MS ? ms : NAMES_REST_MAX_MS;
}

static void on_answer(void *arg, const struct resolver_answer *answer)
{
	struct known_name *name = arg;
	struct names *n = name->names;

	fairqueue_end(&name->turn);
	name->state = IDLE;
	keep_answer(name, answer);
	name->until_ms = now_ms() + kept_ms(name, answer);
	tell_all(name,
		&(struct names_answer){
			.count = answer->verdict == RESOLVER_FOUND ? answer->count : 0,
			.addresses = answer->addresses,
			.records = answer->records.at,
			.why = answer->why,
			.failed = answer->verdict == RESOLVER_FAILED,
		});
	fill(n);
}

static struct known_name *next_of(struct fairqueue *queue)
{
	struct fairqueue_entry *turn = fairqueue_take(queue);

	return turn ? (struct known_name *)((char *)turn - offsetof(struct known_name, turn)) : NULL;
}

/* Does not recurse: an answer from a file comes within resolver_ask. */
static void fill(struct names *n)
{
	struct known_name *name;

	if (n->filling)
		return;
	n->filling = true;
	while ((name = next_of(&n->fresh)) != NULL || (name = next_of(&n->failed)) != NULL) {
		name->state = ASKED;
		resolver_ask(n->resolver, name->key + 1, name->kind, on_answer, name);
	}
	n->filling = false;
}

static void enqueue(struct known_name *name, const char *namespace_)
{
	struct names *n = name->names;

	name->state = QUEUED;
	fairqueue_put(name->failures ? &n->failed : &n->fresh, &name->turn, namespace_);
	fill(n);
}

static void on_rested(evutil_socket_t fd, short what, void *arg)
{
	struct known_name *name = arg;
	struct names *n = name->names;

	(void)fd;
	(void)what;
	if (n->on_work)
		n->on_work(n->arg);
	name->state = IDLE;
	if (name->askers)
		enqueue(name, name->namespace_);
}

static void rest(struct known_name *name, int64_t ms)
{
	struct timeval tv = { .tv_sec = (time_t)(ms / 1000), .tv_usec = (suseconds_t)(ms % 1000 * 1000) };

	if (!name->rested)
		name->rested = evtimer_new(name->names->base, on_rested, name);
	event_add(name->rested, &tv);
	name->state = RESTING;
}

/* ---- The interface ---- */

struct names *names_new(struct event_base *base, void (*on_work)(void *arg), void *arg)
{
	struct names *n = mem_zalloc(sizeof(*n));

	n->base = base;
	n->on_work = on_work;
	n->arg = arg;
	n->remembered = (struct shares){ .total = NAMES_REMEMBER_MAX, .few = FEW };
	n->fresh.shares = (struct shares){ .total = NAMES_FRESH_MAX, .few = FEW };
	n->failed.shares = (struct shares){ .total = NAMES_FAILED_MAX, .few = FEW };
	n->resolver = resolver_new(base, on_work, arg);
	return n;
}

void names_free(struct names *n)
{
	struct known_name *name, *next;

	if (!n)
		return;
	resolver_free(n->resolver);
	HASH_ITER (hh, n->known, name, next) {
		name_free(name);
	}
	free(n);
}

void names_ask(struct names *n, const char *host, struct names_asker *a)
{
	int64_t now = now_ms();
	unsigned generation = resolver_generation(n->resolver);
	struct known_name *name;

	sweep(n, now);
	if (generation != n->generation)
		distrust(n);
	n->generation = generation;
	name = name_get(n, host, a->kind, a->namespace_);
	a->name = NULL;
	if (!name) {
		a->fn(a->arg,
			&(struct names_answer){ .why = "too many names of its namespace are being looked up",
				.failed = true });
		return;
	}
	if (name->state == IDLE && now < name->until_ms && (name->count || name->why)) {
		a->fn(a->arg,
			&(struct names_answer){ name->count, name->addresses, name->records.at, name->why, false });
		return;
	}
	a->name = name;
	DL_APPEND(name->askers, a);
	if (name->state == IDLE && name->failures && now < name->until_ms)
		rest(name, name->until_ms - now);
	else if (name->state == IDLE || name->state == QUEUED)
		enqueue(name, a->namespace_);
}

void names_leave(struct names_asker *a)
{
	struct known_name *name = a->name;

	if (!name)
		return;
	a->name = NULL;
	DL_DELETE(name->askers, a);
	if (!name->askers && name->state == QUEUED) {
		fairqueue_leave(&name->turn);
		name->state = IDLE;
	}
}

struct resolver *names_resolver(struct names *n)
{
	return n->resolver;
}
