/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_DNS_RESOLVER_H
#define NET_DNS_RESOLVER_H

/*
 * DNS queries by c-ares on libevent. /etc/resolv.conf (nameserver, search, ndots, rotate),
 * /etc/nsswitch.conf and /etc/hosts apply; resolv.conf and hosts are read at the first query, and
 * again after a change, which queries under way survive. Names below localhost are localhost. An
 * answer that does not fit into a datagram is fetched over TCP. SRV and TXT records are found in
 * the same way, but without the hosts file. net/dns/names does the caching and limits the queries.
 */

#include <stddef.h>
#include <stdint.h>

#include "net/dns/dnsaddress.h"
#include "net/dns/dnsrecord.h"

struct event_base;
struct resolver;

enum resolver_verdict {
	RESOLVER_FOUND,
	RESOLVER_NONE,   /* the name does not exist, or has nothing of that kind */
	RESOLVER_FAILED, /* no server gave a usable answer */
};
struct resolver_answer {
	enum resolver_verdict verdict;
	const char *why; /* unless found: the reason, a constant text */
	size_t count;
	struct dns_address addresses[DNS_ADDRESSES_MAX]; /* distinct, without a port */
	struct dnsrecord_list records;                   /* instead of addresses, if they were asked for */
	int64_t ttl_ms;                                  /* the lowest TTL; 0 for addresses from a file */
};
/* answer: borrowed for the call */
typedef void (*resolver_fn)(void *arg, const struct resolver_answer *answer);

/* on_work (may be NULL) is called before each callback from the loop. */
struct resolver *resolver_new(struct event_base *base, void (*on_work)(void *arg), void *arg);
void resolver_free(struct resolver *r); /* queries under way end without callbacks; NULL is fine */

/* Called back exactly once, possibly before this returns. */
void resolver_ask(struct resolver *r, const char *host, enum dnsrecord_kind kind, resolver_fn fn, void *arg);

/* Counts how often the files were read: answers of an earlier generation may be outdated. */
unsigned resolver_generation(struct resolver *r);

/*
 * For tests: from the next query on, this file replaces /etc/resolv.conf, and its servers are asked
 * on this port.
 */
void resolver_use(struct resolver *r, const char *resolv_conf, uint16_t port);

#endif
