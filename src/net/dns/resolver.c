/* SPDX-License-Identifier: Apache-2.0 */
#include "net/dns/resolver.h"

/* Newer versions have another interface, which Debian 12's lacks. */
#define CARES_NO_DEPRECATED
#include <ares.h>
#include <event2/event.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <time.h>
#include <utlist.h>

#include "base/mem.h"

#define RESOLV_CONF  "/etc/resolv.conf"
#define HOSTS        "/etc/hosts"
#define LOOK_AGAIN_S 5
/* Per server: 1 s, 2 s and 4 s. */
#define TIMEOUT_MS 1000
#define TRIES      3
/* How long IPv4 addresses wait for the IPv6 answer, which some servers never give. */
#define PATIENCE_MS 300
#define CLASS_IN    1

struct file_state {
	ino_t inode;
	off_t size;
	struct timespec changed;
};

struct watched_socket {
	ares_socket_t fd;
	struct event *event;
	struct watched_socket *next;
};

struct resolver_query {
	struct resolver *resolver;
	char *host;
	enum dnsrecord_kind kind;
	resolver_fn fn;
	void *arg;
	unsigned legs;         /* queries of c-ares under way: for both families, later also for IPv4 alone */
	bool told;             /* called back; a leg may still be under way */
	struct event *patient; /* timer; starts the second leg */
	struct resolver_query *next;
};

struct resolver {
	struct event_base *base;
	void (*on_work)(void *arg);
	void *arg;
	ares_channel channel; /* NULL until the first query */
	struct watched_socket *sockets;
	struct event *timer;
	unsigned inside; /* while c-ares calls are on the stack, the channel must not be destroyed */
	bool reloading, ending;
	struct resolver_query *again; /* asked again on the next channel */
	char *resolv_conf;
	uint16_t port;
	struct file_state resolv_conf_state, hosts_state;
	time_t looked_s; /* monotonic; 0: never */
	unsigned generation;
};

/* ---- The loop ---- */

static void rearm(struct resolver *r)
{
	struct timeval tv;

	if (r->channel && ares_timeout(r->channel, NULL, &tv))
		event_add(r->timer, &tv);
	else
		event_del(r->timer);
}

static void process(struct resolver *r, ares_socket_t readable, ares_socket_t writable)
{
	if (r->on_work)
		r->on_work(r->arg);
	r->inside++;
	ares_process_fd(r->channel, readable, writable);
	r->inside--;
	rearm(r);
}

static void on_socket(evutil_socket_t fd, short what, void *arg)
{
	process(arg, what & EV_READ ? fd : ARES_SOCKET_BAD, what & EV_WRITE ? fd : ARES_SOCKET_BAD);
}

static void on_timer(evutil_socket_t fd, short what, void *arg)
{
	(void)fd;
	(void)what;
	process(arg, ARES_SOCKET_BAD, ARES_SOCKET_BAD);
}

static void unwatch(struct resolver *r, ares_socket_t fd)
{
	struct watched_socket *s;

	LL_SEARCH_SCALAR(r->sockets, s, fd, fd);
	if (!s)
		return;
	LL_DELETE(r->sockets, s);
	event_free(s->event);
	free(s);
}

static void on_state(void *arg, ares_socket_t fd, int readable, int writable)
{
	struct resolver *r = arg;
	struct watched_socket *s;
	short what = (short)((readable ? EV_READ : 0) | (writable ? EV_WRITE : 0));

	unwatch(r, fd);
	if (!what)
		return;
	s = mem_zalloc(sizeof(*s));
	s->fd = fd;
	s->event = event_new(r->base, fd, (short)(what | EV_PERSIST), on_socket, r);
	event_add(s->event, NULL);
	LL_PREPEND(r->sockets, s);
}

/* ---- Answers ---- */

static bool have_address(const struct resolver_answer *a, const struct dns_address *address)
{
	for (size_t i = 0; i < a->count; i++) {
		if (a->addresses[i].len == address->len && memcmp(&a->addresses[i].sa, &address->sa, address->len) == 0)
			return true;
	}
	return false;
}

static void keep_addresses(struct resolver_answer *a, const struct ares_addrinfo_node *node)
{
	a->ttl_ms = INT64_MAX;
	for (; node && a->count < DNS_ADDRESSES_MAX; node = node->ai_next) {
		struct dns_address address = { .len = node->ai_addrlen };

		if (node->ai_addrlen > sizeof(address.sa))
			continue;
		memcpy(&address.sa, node->ai_addr, node->ai_addrlen);
		if (have_address(a, &address))
			continue;
		a->addresses[a->count++] = address;
		if ((int64_t)node->ai_ttl * 1000 < a->ttl_ms)
			a->ttl_ms = node->ai_ttl > 0 ? (int64_t)node->ai_ttl * 1000 : 0;
	}
}

static enum resolver_verdict verdict_of(int status)
{
	switch (status) {
	case ARES_SUCCESS:
	case ARES_ENODATA:
	case ARES_ENOTFOUND:
	case ARES_ENONAME:
	case ARES_EBADNAME: return RESOLVER_NONE;
	default: return RESOLVER_FAILED;
	}
}

static void query_free(struct resolver_query *q)
{
	if (q->patient)
		event_free(q->patient);
	free(q->host);
	free(q);
}

/* A leg has ended. True: the query is kept for the next channel. */
static bool is_put_off(struct resolver_query *q, int status)
{
	struct resolver *r = q->resolver;

	q->legs--;
	if (status != ARES_EDESTRUCTION || !r->reloading || q->told)
		return false;
	if (!q->legs)
		LL_PREPEND(r->again, q);
	return true;
}

static void call_back(struct resolver_query *q, struct resolver_answer *answer)
{
	if (answer->count)
		answer->verdict = RESOLVER_FOUND;
	if (!q->told && (answer->count || !q->legs)) {
		q->told = true;
		if (!q->resolver->ending)
			q->fn(q->arg, answer);
	}
	if (!q->legs)
		query_free(q);
}

static struct resolver_answer answer_of(int status)
{
	return (struct resolver_answer){
		.verdict = verdict_of(status),
		.why = ares_strerror(status == ARES_SUCCESS ? ARES_ENODATA : status),
	};
}

static void on_answer(void *arg, int status, int timeouts, struct ares_addrinfo *list)
{
	struct resolver_query *q = arg;
	struct resolver_answer answer = answer_of(status);

	(void)timeouts;
	if (is_put_off(q, status))
		return;
	if (status == ARES_SUCCESS && list)
		keep_addresses(&answer, list->nodes);
	if (list)
		ares_freeaddrinfo(list);
	call_back(q, &answer);
}

static void on_records(void *arg, int status, int timeouts, unsigned char *bytes, int len)
{
	struct resolver_query *q = arg;
	struct resolver_answer answer = answer_of(status);
	const char *why = NULL;
	int64_t ttl_s = 0;

	(void)timeouts;
	if (is_put_off(q, status))
		return;
	if (status == ARES_SUCCESS && bytes && len > 0)
		why = dnsrecord_read(bytes, (size_t)len, q->kind, &answer.records, &ttl_s);
	if (why) {
		answer.verdict = RESOLVER_FAILED;
		answer.why = why;
	}
	answer.count = answer.records.count;
	answer.ttl_ms = ttl_s * 1000;
	call_back(q, &answer); /* which may free the query */
	dnsrecord_done(&answer.records);
}

/* ---- The channel ---- */

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

/* Without a readable resolv.conf c-ares asks a server on 127.0.0.1, as the C library does. */
static ares_channel channel_new(struct resolver *r)
{
	struct ares_options options = { .timeout = TIMEOUT_MS,
		.tries = TRIES,
		.udp_port = r->port,
		.tcp_port = r->port,
		.sock_state_cb = on_state,
		.sock_state_cb_data = r,
		.resolvconf_path = r->resolv_conf };
	int mask = ARES_OPT_TIMEOUTMS | ARES_OPT_TRIES | ARES_OPT_SOCK_STATE_CB | ARES_OPT_RESOLVCONF;
	ares_channel channel = NULL;

	if (r->port)
		mask |= ARES_OPT_UDP_PORT | ARES_OPT_TCP_PORT;
	if (ares_init_options(&channel, &options, mask) != ARES_SUCCESS)
		return NULL;
	return channel;
}

/* Names below localhost are this machine; no server is asked for them (RFC 6761, 6.3). */
static const char *name_to_ask(const char *host)
{
	static const char local[] = ".localhost";
	size_t len = strlen(host), end = sizeof(local) - 1;

	return len > end && strcasecmp(host + len - end, local) == 0 ? local + 1 : host;
}

static void put_leg(struct resolver *r, struct resolver_query *q, int family)
{
	struct ares_addrinfo_hints hints = { .ai_family = family, .ai_socktype = SOCK_STREAM };

	q->legs++;
	if (!r->channel) {
		on_answer(q, ARES_ENOTINITIALIZED, 0, NULL);
		return;
	}
	r->inside++;
	if (q->kind == DNSRECORD_ADDRESS)
		ares_getaddrinfo(r->channel, name_to_ask(q->host), NULL, &hints, on_answer, q);
	else if (name_to_ask(q->host) != q->host)
		on_records(q, ARES_ENOTFOUND, 0, NULL, 0);
	else
		ares_search(r->channel, q->host, CLASS_IN, (int)q->kind, on_records, q);
	r->inside--;
}

static void on_patient(evutil_socket_t fd, short what, void *arg)
{
	struct resolver_query *q = arg;
	struct resolver *r = q->resolver;

	(void)fd;
	(void)what;
	if (q->told)
		return;
	if (r->on_work)
		r->on_work(r->arg);
	put_leg(r, q, AF_INET);
	rearm(r);
}

/* The timer is set first: ares_getaddrinfo may answer from a file, which frees the query. */
static void put_query(struct resolver *r, struct resolver_query *q)
{
	const struct timeval patience = { .tv_usec = PATIENCE_MS * 1000 };

	if (q->kind == DNSRECORD_ADDRESS) {
		if (!q->patient)
			q->patient = evtimer_new(r->base, on_patient, q);
		event_add(q->patient, &patience);
	}
	put_leg(r, q, AF_UNSPEC);
}

static void reload(struct resolver *r)
{
	ares_channel old = r->channel;
	struct resolver_query *again, *q, *next;

	r->reloading = true;
	if (old)
		ares_destroy(old);
	r->reloading = false;
	r->channel = channel_new(r);
	r->generation++;
	again = r->again;
	r->again = NULL;
	LL_FOREACH_SAFE (again, q, next)
		put_query(r, q);
}

static void refresh(struct resolver *r)
{
	struct file_state resolv_conf, hosts;
	bool changed;

	if (r->inside || (r->looked_s && monotonic_s() - r->looked_s < LOOK_AGAIN_S))
		return;
	resolv_conf = file_look(r->resolv_conf);
	hosts = file_look(HOSTS);
	changed = !r->looked_s || !file_same(&resolv_conf, &r->resolv_conf_state) ||
		!file_same(&hosts, &r->hosts_state);
	r->looked_s = monotonic_s();
	r->resolv_conf_state = resolv_conf;
	r->hosts_state = hosts;
	if (changed || !r->channel)
		reload(r);
}

/* ---- The interface ---- */

struct resolver *resolver_new(struct event_base *base, void (*on_work)(void *arg), void *arg)
{
	struct resolver *r = mem_zalloc(sizeof(*r));

	ares_library_init(ARES_LIB_INIT_ALL);
	r->base = base;
	r->on_work = on_work;
	r->arg = arg;
	r->timer = evtimer_new(base, on_timer, r);
	r->resolv_conf = mem_dup(RESOLV_CONF);
	return r;
}

void resolver_free(struct resolver *r)
{
	if (!r)
		return;
	r->ending = true;
	if (r->channel)
		ares_destroy(r->channel);
	while (r->sockets)
		unwatch(r, r->sockets->fd);
	event_free(r->timer);
	free(r->resolv_conf);
	free(r);
	ares_library_cleanup();
}

void resolver_ask(struct resolver *r, const char *host, enum dnsrecord_kind kind, resolver_fn fn, void *arg)
{
	struct resolver_query *q = mem_zalloc(sizeof(*q));

	q->resolver = r;
	q->host = mem_dup(host);
	q->kind = kind;
	q->fn = fn;
	q->arg = arg;
	refresh(r);
	put_query(r, q);
	rearm(r);
}

unsigned resolver_generation(struct resolver *r)
{
	refresh(r);
	rearm(r);
	return r->generation;
}

void resolver_use(struct resolver *r, const char *resolv_conf, uint16_t port)
{
	free(r->resolv_conf);
	r->resolv_conf = mem_dup(resolv_conf);
	r->port = port;
	r->looked_s = 0;
}
