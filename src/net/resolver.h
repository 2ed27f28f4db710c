/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_RESOLVER_H
#define NET_RESOLVER_H

/*
 * c-ares on libevent: one query to the name servers at a time that it is told. /etc/resolv.conf
 * (nameserver, search, ndots, rotate), /etc/nsswitch.conf and /etc/hosts count; the first is read
 * when the first name is asked for and again when it has changed, which queries under way survive.
 * An answer that does not fit into a datagram is fetched over TCP. Which names are asked for, and
 * how often, is net/names'.
 */

#include <stddef.h>
#include <stdint.h>

#include "net/dnsaddress.h"

struct event_base;
struct resolver;

enum resolver_verdict {
	RESOLVER_FOUND,
	RESOLVER_NONE,   /* the name has no address */
	RESOLVER_FAILED, /* nobody could say */
};
struct resolver_answer {
	enum resolver_verdict verdict;
	const char *why; /* unless found; a constant text */
	size_t count;
	struct dns_address addresses[DNS_ADDRESSES_MAX]; /* each once, without a port */
	int64_t ttl_ms;                                  /* the least of them; 0 for what is in a file */
};
/* answer: borrowed for the call */
typedef void (*resolver_fn)(void *arg, const struct resolver_answer *answer);

/* on_work (may be NULL): called before anything is done on the loop's behalf. */
struct resolver *resolver_new(struct event_base *base, void (*on_work)(void *arg), void *arg);
void resolver_free(struct resolver *r); /* queries under way never call back; NULL is fine */

/* Exactly one answer, which may come before this returns. */
void resolver_ask(struct resolver *r, const char *host, resolver_fn fn, void *arg);

/* How often the files were read: what was found out before another number may be wrong. */
unsigned resolver_generation(struct resolver *r);

/*
 * For tests: another file in the place of /etc/resolv.conf, with its servers on this port, from the
 * next query on.
 */
void resolver_use(struct resolver *r, const char *resolv_conf, uint16_t port);

#endif
