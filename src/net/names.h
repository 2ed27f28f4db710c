/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_NAMES_H
#define NET_NAMES_H

/*
 * Which names the name servers are asked for, and how often (net/resolver): one query per name,
 * however many want to know; what was found is kept for its TTL, but not for longer than
 * NAMES_KEEP_MAX_MS, as a server that moved is to be found at once; that there is none,
 * NAMES_NONE_MS. A name that nobody could say anything about is asked for again after a back-off,
 * and not before; who wants it meanwhile waits for that. So many queries are under way at once, and
 * so many for names that failed before, so that those that never answer keep nobody else waiting;
 * namespaces have shares of both (net/namequeue), and of the names that are known at all. A name is
 * of the namespace that asked for it first. The loop owns it (loop_names); net/dns asks.
 */

#include <stddef.h>
#include <stdint.h>

#include "net/dnsaddress.h"

#define NAMES_KEEP_MAX_MS  5000
#define NAMES_NONE_MS      1000
#define NAMES_REST_MS      500 /* after the first failure; doubles */
#define NAMES_REST_MAX_MS  5000
#define NAMES_FRESH_MAX    768  /* queries under way for names that have not failed before */
#define NAMES_FAILED_MAX   256  /* for those that have */
#define NAMES_REMEMBER_MAX 8192 /* names known at all */

struct event_base;
struct resolver;
struct names;
struct known_name;

/* Lives inside its owner. */
struct names_asker {
	/* count is 0 with why, a constant text. May be called before names_ask returns. */
	void (*fn)(void *arg, const struct dns_address *addresses, size_t count, const char *why);
	void *arg;
	const char *namespace_;  /* who asks; borrowed for names_ask only; "": of several, or nobody */
	struct known_name *name; /* NULL: not waiting */
	struct names_asker *prev, *next;
};

/* on_work (may be NULL): called before anything is done on the loop's behalf. */
struct names *names_new(struct event_base *base, void (*on_work)(void *arg), void *arg);
void names_free(struct names *n); /* nobody is called back any more; NULL is fine */

/* fn, arg and namespace_ are set. Exactly one answer. */
void names_ask(struct names *n, const char *host, struct names_asker *a);
void names_leave(struct names_asker *a); /* no answer any more; fine when it has come */

struct resolver *names_resolver(struct names *n); /* borrowed; for tests */

#endif
