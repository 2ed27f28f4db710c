/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_RESOLVER_H
#define NET_RESOLVER_H

/*
 * libevent's evdns over /etc/resolv.conf and /etc/hosts, both read again when they change. The loop
 * owns it (loop_dns); names are looked up with net/dns.
 */

struct event_base;
struct evdns_base;
struct resolver;

struct resolver *resolver_new(struct event_base *base);
void resolver_free(struct resolver *r);               /* NULL is fine; lookups under way never call back */
struct evdns_base *resolver_base(struct resolver *r); /* borrowed; after a look whether the files changed */

#endif
