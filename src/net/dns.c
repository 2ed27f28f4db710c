/* SPDX-License-Identifier: Apache-2.0 */
#include "net/dns.h"

#include <event2/dns.h>
#include <event2/event.h>
#include <event2/util.h>
#include <netdb.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/mem.h"

#define RESOLV_CONF  "/etc/resolv.conf"
#define HOSTS        "/etc/hosts"
#define LOOK_AGAIN_S 5

struct file_state {
	ino_t inode;
	off_t size;
	struct timespec changed;
};

struct dns {
	struct evdns_base *base;
	struct file_state resolv_conf, hosts;
	time_t looked_s; /* monotonic */
};

/* ---- The two files ---- */

static struct file_state file_look(const char *path)
{
	struct file_state state = { 0 };
	struct stat st;

	if (stat(path, &st) == 0) {
		state.inode = st.st_ino;
		state.size = st.st_size;
		state.changed = st.st_mtim;
	}
	return state;
}

static bool file_same(const struct file_state *a, const struct file_state *b)
{
	return a->inode == b->inode && a->size == b->size && a->changed.tv_sec == b->changed.tv_sec &&
		a->changed.tv_nsec == b->changed.tv_nsec;
}

static time_t monotonic_s(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec;
}

static void load_hosts(struct dns *dns)
{
	evdns_base_clear_host_addresses(dns->base);
	evdns_base_load_hosts(dns->base, HOSTS);
	/*
	 * Without a file name libevent adds "localhost" itself; an address named twice is kept once
	 * (keep_addresses).
	 */
	evdns_base_load_hosts(dns->base, NULL);
}

/*
 * Without a readable resolv.conf libevent falls back to a server on 127.0.0.1, as the C library
 * does.
 */
static void load_servers(struct dns *dns)
{
	evdns_base_clear_nameservers_and_suspend(dns->base);
	evdns_base_search_clear(dns->base);
	evdns_base_resolv_conf_parse(dns->base, DNS_OPTION_SEARCH | DNS_OPTION_NAMESERVERS | DNS_OPTION_MISC,
		RESOLV_CONF);
	evdns_base_resume(dns->base);
}

static void refresh(struct dns *dns)
{
	struct file_state resolv_conf, hosts;

	if (dns->looked_s && monotonic_s() - dns->looked_s < LOOK_AGAIN_S)
		return;
	resolv_conf = file_look(RESOLV_CONF);
	hosts = file_look(HOSTS);
	if (!dns->looked_s || !file_same(&hosts, &dns->hosts))
		load_hosts(dns);
	if (!dns->looked_s || !file_same(&resolv_conf, &dns->resolv_conf))
		load_servers(dns);
	dns->resolv_conf = resolv_conf;
	dns->hosts = hosts;
	dns->looked_s = monotonic_s();
}

struct dns *dns_new(struct event_base *base)
{
	struct dns *dns = mem_zalloc(sizeof(*dns));

	dns->base = evdns_base_new(base, EVDNS_BASE_DISABLE_WHEN_INACTIVE);
	if (!dns->base)
		abort(); /* out of memory */
	/*
	 * Letter cases at random guard against forged answers, but break behind servers that do not
	 * echo them.
	 */
	evdns_base_set_option(dns->base, "randomize-case:", "0");
	/* How long an A answer waits for its AAAA sister. */
	evdns_base_set_option(dns->base, "getaddrinfo-allow-skew:", "0.3");
	return dns;
}

void dns_free(struct dns *dns)
{
	if (!dns)
		return;
	evdns_base_free(dns->base, 1);
	mem_free_ptr(&dns);
}

struct evdns_base *dns_base(struct dns *dns)
{
	refresh(dns);
	return dns->base;
}

/* ---- Lookups ---- */

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
