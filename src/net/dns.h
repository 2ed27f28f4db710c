/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_DNS_H
#define NET_DNS_H

/*
 * Resolves host names, and finds their SRV and TXT records, without blocking and without threads,
 * through net/dns/names (cache, limits) and net/dns/resolver (queries). Nothing is set up before
 * the first name, and no timer runs while no lookup waits.
 */

#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "base/err.h"
#include "net/dns/dnsaddress.h"
#include "net/dns/dnsrecord.h"
#include "net/loop.h"

/*
 * addresses: borrowed for the call. On failure count is 0, with err (ERR_TEMPORARY: the name may
 * appear, the server may come back).
 */
typedef void (*dns_fn)(void *arg, const struct dns_address *addresses, size_t count, const struct err *err);

struct dns_lookup;
/*
 * host: a name or an IP literal (IPv6 without brackets). namespace_: on whose behalf; borrowed for
 * this call; "" or NULL for several or none. Called back exactly once, never before this returns.
 */
struct dns_lookup *dns_lookup_start(struct loop *loop, const char *host, uint16_t port, const char *namespace_,
	dns_fn fn, void *arg);

/*
 * records: borrowed for the call. On failure NULL, with err: ERR_MISSING if the name does not exist
 * or has no such records.
 */
typedef void (*dns_records_fn)(void *arg, const struct dnsrecord_list *records, const struct err *err);
/* Like dns_lookup_start. */
struct dns_lookup *dns_records_start(struct loop *loop, const char *name, enum dnsrecord_kind kind,
	const char *namespace_, dns_records_fn fn, void *arg);

void dns_lookup_cancel(struct dns_lookup *l); /* no callback any more; NULL is fine */

#endif
