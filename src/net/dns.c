/* SPDX-License-Identifier: Apache-2.0 */
#include "net/dns.h"

#include <arpa/inet.h>
#include <event2/util.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/dns/names.h"
#include "net/network.h"

struct dns_lookup {
	struct loop *loop;
	struct names_asker asker;
	char *host;
	uint16_t port;
	const char *why; /* if there is nothing: the reason, a constant text */
	bool failed;     /* no server answered */
	dns_fn fn;
	dns_records_fn records_fn; /* one of the two is set */
	void *arg;
	struct loop_task tell;
	size_t count;
	struct dns_address addresses[DNS_ADDRESSES_MAX];
	struct dnsrecord_list records;
};

static void lookup_free(struct dns_lookup *l)
{
	dnsrecord_done(&l->records);
	free(l->host);
	free(l);
}

static void on_tell(void *arg)
{
	struct dns_lookup *l = arg;
	struct err err;

	if (l->count) {
		l->fn(l->arg, l->addresses, l->count, NULL);
	} else {
		err_set(&err, ERR_TEMPORARY, "looking up %s: %s", l->host, l->why);
		l->fn(l->arg, NULL, 0, &err);
	}
	lookup_free(l);
}

static void on_tell_records(void *arg)
{
	struct dns_lookup *l = arg;
	struct err err;

	if (l->records.count) {
		l->records_fn(l->arg, &l->records, NULL);
	} else {
		err_set(&err, l->failed ? ERR_TEMPORARY : ERR_MISSING, "looking up the %s record of %s: %s",
			l->asker.kind == DNSRECORD_SRV ? "SRV" : "TXT", l->host, l->why);
		l->records_fn(l->arg, NULL, &err);
	}
	lookup_free(l);
}

static void set_port(struct dns_address *address, uint16_t port)
{
	if (address->sa.ss_family == AF_INET)
		((struct sockaddr_in *)&address->sa)->sin_port = htons(port);
	else if (address->sa.ss_family == AF_INET6)
		((struct sockaddr_in6 *)&address->sa)->sin6_port = htons(port);
}

static void on_found(void *arg, const struct names_answer *answer)
{
	struct dns_lookup *l = arg;

	for (l->count = 0; l->count < answer->count; l->count++) {
		l->addresses[l->count] = answer->addresses[l->count];
		set_port(&l->addresses[l->count], l->port);
	}
	l->why = answer->why;
	loop_task_queue(l->loop, &l->tell);
}

static void on_found_records(void *arg, const struct names_answer *answer)
{
	struct dns_lookup *l = arg;
	const struct dnsrecord_list found = { answer->count, (struct dnsrecord *)(uintptr_t)answer->records };

	dnsrecord_copy(&found, &l->records);
	l->why = answer->why;
	l->failed = answer->failed;
	loop_task_queue(l->loop, &l->tell);
}

/* An IP literal; an IPv6 one may have a scope ("fe80::1%eth0"). */
static bool read_literal(const char *host, struct dns_address *address)
{
	struct evutil_addrinfo hints = { .ai_flags = EVUTIL_AI_NUMERICHOST, .ai_socktype = SOCK_STREAM }, *found;

	if (evutil_getaddrinfo(host, NULL, &hints, &found))
		return false;
	memset(address, 0, sizeof(*address));
	address->len = (socklen_t)found->ai_addrlen;
	memcpy(&address->sa, found->ai_addr, found->ai_addrlen);
	evutil_freeaddrinfo(found);
	return true;
}

static struct dns_lookup *lookup_new(struct loop *loop, const char *host, void *arg)
{
	struct dns_lookup *l = mem_zalloc(sizeof(*l));

	l->loop = loop;
	l->host = mem_dup(host);
	l->arg = arg;
	return l;
}

struct dns_lookup *dns_lookup_start(struct loop *loop, const char *host, uint16_t port, const char *namespace_,
	dns_fn fn, void *arg)
{
	struct dns_lookup *l = lookup_new(loop, host, arg);
	struct dns_address literal;

	l->port = port;
	l->fn = fn;
	l->asker = (struct names_asker){ .fn = on_found,
		.arg = l,
		.kind = DNSRECORD_ADDRESS,
		.namespace_ = namespace_ ? namespace_ : "" };
	loop_task_init(&l->tell, on_tell, l);
	if (read_literal(host, &literal))
		on_found(l, &(struct names_answer){ .count = 1, .addresses = &literal });
	else
		names_ask(network_names(loop), host, &l->asker);
	return l;
}

struct dns_lookup *dns_records_start(struct loop *loop, const char *name, enum dnsrecord_kind kind,
	const char *namespace_, dns_records_fn fn, void *arg)
{
	struct dns_lookup *l = lookup_new(loop, name, arg);

	l->records_fn = fn;
	l->asker = (struct names_asker){ .fn = on_found_records,
		.arg = l,
		.kind = kind,
		.namespace_ = namespace_ ? namespace_ : "" };
	loop_task_init(&l->tell, on_tell_records, l);
	names_ask(network_names(loop), name, &l->asker);
	return l;
}

void dns_lookup_cancel(struct dns_lookup *l)
{
	if (!l)
		return;
	loop_task_cancel(l->loop, &l->tell);
	names_leave(&l->asker);
	lookup_free(l);
}
