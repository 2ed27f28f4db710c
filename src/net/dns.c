/* SPDX-License-Identifier: Apache-2.0 */
#include "net/dns.h"

#include <event2/dns.h>
#include <event2/util.h>
#include <netdb.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"

/*
 * evdns may call back at once, later, or after it was cancelled, so a lookup lives until both its
 * evdns query and its owner are through with it: `query_open` is evdns' share, `fn` the owner's.
 */
struct dns_lookup {
	struct loop *loop;
	struct evdns_getaddrinfo_request *query;
	bool query_open;
	int gai_error; /* 0 when the query went well */
	char *host;
	dns_fn fn;
	void *arg;
	struct loop_task tell;
	size_t count;
	struct dns_address addresses[DNS_ADDRESSES_MAX];
};

static void lookup_free(struct dns_lookup *l)
{
	mem_free_ptr(&l->host);
	mem_free_ptr(&l);
}

static void on_tell(void *arg)
{
	struct dns_lookup *l = arg;
	struct err err;

	if (l->count) {
		l->fn(l->arg, l->addresses, l->count, NULL);
	} else {
		err_set(&err, ERR_TEMPORARY, "looking up %s: %s", l->host,
			l->gai_error ? evutil_gai_strerror(l->gai_error) : "no address");
		l->fn(l->arg, NULL, 0, &err);
	}
	lookup_free(l);
}

static bool have_address(const struct dns_lookup *l, const struct evutil_addrinfo *ai)
{
	for (size_t i = 0; i < l->count; i++) {
		if (l->addresses[i].len == ai->ai_addrlen &&
			memcmp(&l->addresses[i].sa, ai->ai_addr, ai->ai_addrlen) == 0)
			return true;
	}
	return false;
}

static void keep_addresses(struct dns_lookup *l, const struct evutil_addrinfo *list)
{
	for (; list && l->count < DNS_ADDRESSES_MAX; list = list->ai_next) {
		if (list->ai_addrlen > sizeof(l->addresses[0].sa) || have_address(l, list))
			continue;
		memcpy(&l->addresses[l->count].sa, list->ai_addr, list->ai_addrlen);
		l->addresses[l->count].len = (socklen_t)list->ai_addrlen;
		l->count++;
	}
}

static void on_query(int result, struct evutil_addrinfo *list, void *arg)
{
	struct dns_lookup *l = arg;

	l->query_open = false;
	l->query = NULL;
	l->gai_error = result;
	if (l->fn) {
		loop_enter(l->loop);
		keep_addresses(l, list);
		loop_task_queue(l->loop, &l->tell);
	} else {
		lookup_free(l);
	}
	if (list)
		evutil_freeaddrinfo(list);
}

struct dns_lookup *dns_lookup_start(struct loop *loop, const char *host, uint16_t port, dns_fn fn, void *arg)
{
	struct dns_lookup *l = mem_zalloc(sizeof(*l));
	struct evutil_addrinfo hints = { .ai_family = AF_UNSPEC,
		.ai_socktype = SOCK_STREAM,
		.ai_protocol = IPPROTO_TCP };
	struct evdns_getaddrinfo_request *query;
	char service[8];

	l->loop = loop;
	l->host = mem_dup(host);
	l->fn = fn;
	l->arg = arg;
	loop_task_init(&l->tell, on_tell, l);
	l->query_open = true;
	snprintf(service, sizeof(service), "%u", port);
	query = evdns_getaddrinfo(loop_dns(loop), host, service, &hints, on_query, l);
	if (l->query_open)
		l->query = query;
	return l;
}

void dns_lookup_cancel(struct dns_lookup *l)
{
	if (!l)
		return;
	l->fn = NULL;
	loop_task_cancel(l->loop, &l->tell);
	if (l->query_open)
		evdns_getaddrinfo_cancel(l->query); /* on_query comes later and frees */
	else
		lookup_free(l);
}
