/* SPDX-License-Identifier: Apache-2.0 */
#include "net/resolver.h"

#include <event2/dns.h>
#include <event2/event.h>
#include <stdbool.h>
#include <stdlib.h>
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

struct resolver {
	struct evdns_base *base;
	struct file_state resolv_conf, hosts;
	time_t looked_s; /* monotonic */
};

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

static void load_hosts(struct resolver *r)
{
	evdns_base_clear_host_addresses(r->base);
	evdns_base_load_hosts(r->base, HOSTS);
	/*
	 * Without a file name libevent adds "localhost" itself; an address named twice is kept once
	 * (net/dns.c).
	 */
	evdns_base_load_hosts(r->base, NULL);
}

/*
 * Without a readable resolv.conf libevent falls back to a server on 127.0.0.1, as the C library
 * does.
 */
static void load_servers(struct resolver *r)
{
	evdns_base_clear_nameservers_and_suspend(r->base);
	evdns_base_search_clear(r->base);
	evdns_base_resolv_conf_parse(r->base, DNS_OPTION_SEARCH | DNS_OPTION_NAMESERVERS | DNS_OPTION_MISC,
		RESOLV_CONF);
	evdns_base_resume(r->base);
}

static void refresh(struct resolver *r)
{
	struct file_state resolv_conf, hosts;

	if (r->looked_s && monotonic_s() - r->looked_s < LOOK_AGAIN_S)
		return;
	resolv_conf = file_look(RESOLV_CONF);
	hosts = file_look(HOSTS);
	if (!r->looked_s || !file_same(&hosts, &r->hosts))
		load_hosts(r);
	if (!r->looked_s || !file_same(&resolv_conf, &r->resolv_conf))
		load_servers(r);
	r->resolv_conf = resolv_conf;
	r->hosts = hosts;
	r->looked_s = monotonic_s();
}

struct resolver *resolver_new(struct event_base *base)
{
	struct resolver *r = mem_zalloc(sizeof(*r));

	r->base = evdns_base_new(base, EVDNS_BASE_DISABLE_WHEN_INACTIVE);
	if (!r->base)
		abort(); /* out of memory */
	/*
	 * Letter cases at random guard against forged answers, but break behind servers that do not
	 * echo them.
	 */
	evdns_base_set_option(r->base, "randomize-case:", "0");
	/* How long an A answer waits for its AAAA sister. */
	evdns_base_set_option(r->base, "getaddrinfo-allow-skew:", "0.3");
	return r;
}

void resolver_free(struct resolver *r)
{
	if (!r)
		return;
	evdns_base_free(r->base, 1);
	mem_free_ptr(&r);
}

struct evdns_base *resolver_base(struct resolver *r)
{
	refresh(r);
	return r->base;
}
