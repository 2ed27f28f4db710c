/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_DNS_NAMES_H
#define NET_DNS_NAMES_H

/*
 * The cache of DNS names, which decides when net/dns/resolver is asked. A name has at most one
 * query under way. Addresses are kept for their TTL, but at most NAMES_KEEP_MAX_MS, so that a
 * server that moved is found soon; SRV and TXT records for at least NAMES_RECORDS_MIN_MS and at
 * most NAMES_RECORDS_MAX_MS; the fact that a name does not exist for NAMES_NONE_MS. After a failed
 * query the next one waits for a back-off, and so do all requests meanwhile. The number of queries
 * under way is limited, separately for names that failed before, so that these do not delay others.
 * Namespaces have shares of both limits (base/fairqueue) and of the cache. An entry counts for the
 * first namespace that asked for it. Owned by net/network, used by net/dns.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/dns/dnsaddress.h"
#include "net/dns/dnsrecord.h"

#define NAMES_KEEP_MAX_MS    5000
#define NAMES_RECORDS_MIN_MS 1000
#define NAMES_RECORDS_MAX_MS 60000
#define NAMES_NONE_MS        1000
#define NAMES_REST_MS        500 /* after the first failure; doubles */
#define NAMES_REST_MAX_MS    5000
#define NAMES_FRESH_MAX      768  /* queries under way for names that have not failed before */
#define NAMES_FAILED_MAX     256  /* for those that have */
#define NAMES_REMEMBER_MAX   8192 /* entries in the cache */

struct event_base;
struct resolver;
struct names;
struct known_name;

struct names_answer { /* borrows */
	size_t count; /* of addresses or records; 0: none, for the reason `why` */
	const struct dns_address *addresses;
	const struct dnsrecord *records;
	const char *why; /* a constant text */
	bool failed;     /* no server confirmed that there is none */
};

/* A request for a name; a member of its owner. */
struct names_asker {
	/* May be called before names_ask returns. */
	void (*fn)(void *arg, const struct names_answer *answer);
	void *arg;
	enum dnsrecord_kind kind;
	const char *namespace_;  /* on whose behalf; borrowed for names_ask only; "" for several or none */
	struct known_name *name; /* NULL: not waiting */
	struct names_asker *prev, *next;
};

/* on_work (may be NULL) is called before each callback from the loop. */
struct names *names_new(struct event_base *base, void (*on_work)(void *arg), void *arg);
void names_free(struct names *n); /* without callbacks; NULL is fine */

/* The caller has set fn, arg, kind and namespace_. Called back exactly once. */
void names_ask(struct names *n, const char *host, struct names_asker *a);
void names_leave(struct names_asker *a); /* no callback any more; fine after the callback */

struct resolver *names_resolver(struct names *n); /* borrowed; for tests */

#endif
