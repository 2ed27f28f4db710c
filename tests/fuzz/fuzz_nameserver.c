/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A name server, or whoever answers in its place: each query is answered by the next part of the
 * input, behind the query's number and, where the part's first byte says so, its question. What is
 * found are addresses, each once, and SRV and TXT records within their limits; all else is a
 * reason. The queries for addresses come first.
 */

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"
#include "net/dns/resolver.h"
#include "net/loop.h"

#define NEXT         "<~>"
#define DATAGRAM_MAX 65000
#define HEADER_BYTES 12 /* number, flags, four counts */
#define QUERIES_MAX  16
#define TURNS_MAX    400
#define QUIET_TURNS  40

static struct {
	struct loop *loop;
	struct loop_timer tick;
	int fd;
	uint16_t port;
	char resolv_conf[64];
} server;

static void on_tick(void *arg)
{
	(void)arg;
	loop_timer_set(&server.tick, 0);
}

static void set_up(void)
{
	static const char text[] = "nameserver 127.0.0.1\noptions attempts:1\n";
	struct sockaddr_in at = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof(at);
	int file = memfd_create("resolv.conf", 0);

	must(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
	snprintf(server.resolv_conf, sizeof(server.resolv_conf), "/proc/self/fd/%d", file);
	server.fd = socket(AF_INET, SOCK_DGRAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
	must(server.fd >= 0 && bind(server.fd, (const struct sockaddr *)&at, sizeof(at)) == 0);
	must(getsockname(server.fd, (struct sockaddr *)&at, &len) == 0);
	server.port = ntohs(at.sin_port);
	server.loop = loop_new(NULL);
	loop_timer_init(&server.tick, server.loop, on_tick, NULL);
	loop_timer_set(&server.tick, 0);
}

/* Of a query: its name, type and class. */
static size_t question_len(const uint8_t *query, size_t len)
{
	size_t at = HEADER_BYTES;

	while (at < len && query[at])
		at += query[at] + (size_t)1;
	at += 5;
	return at <= len ? at - HEADER_BYTES : 0;
}

/* The input's part: whether the question is repeated, flags and counts, and the rest. */
static size_t put_answer(uint8_t *out, const uint8_t *query, size_t query_len, const uint8_t *part, size_t len)
{
	size_t head = len > HEADER_BYTES - 1 ? HEADER_BYTES - 2 : len - 1, question = 0, rest = len - 1 - head;

	memcpy(out, query, 2);
	memcpy(out + 2, part + 1, head);
	if (part[0] & 1) {
		question = question_len(query, query_len);
		memcpy(out + 2 + head, query + HEADER_BYTES, question);
	}
	memcpy(out + 2 + head + question, part + 1 + head, rest);
	return 2 + head + question + rest;
}

struct script {
	const uint8_t *at;
	size_t left;
	unsigned queries;
};

static bool answer_next(struct script *s)
{
	static uint8_t out[DATAGRAM_MAX + 1024];
	struct sockaddr_in from;
	socklen_t from_len = sizeof(from);
	uint8_t query[1024];
	ssize_t got = recvfrom(server.fd, query, sizeof(query), 0, (struct sockaddr *)&from, &from_len);
	const uint8_t *next = s->left ? memmem(s->at, s->left, NEXT, strlen(NEXT)) : NULL;
	size_t len = next ? (size_t)(next - s->at) : s->left;

	if (got < HEADER_BYTES || s->queries++ >= QUERIES_MAX)
		return got >= 0;
	if (len > 0 && len < DATAGRAM_MAX)
		sendto(server.fd, out, put_answer(out, query, (size_t)got, s->at, len), 0,
			(const struct sockaddr *)&from, from_len);
	if (next) { /* the last part is for all that come */
		s->left -= len + strlen(NEXT);
		s->at = next + strlen(NEXT);
	}
	return true;
}

struct asked {
	enum dnsrecord_kind kind;
	bool done;
};

static void check_records(const struct resolver_answer *a, enum dnsrecord_kind kind)
{
	size_t bytes = 0;

	must(a->count == a->records.count && a->count <= DNSRECORD_MAX && a->ttl_ms <= INT32_MAX * (int64_t)1000);
	for (size_t i = 0; i < a->count; i++) {
		const struct dnsrecord *one = &a->records.at[i];

		bytes += strlen(one->text);
		for (const char *c = one->text; *c; c++)
			must((unsigned char)*c >= ' ' && *c != 0x7f);
		must((kind == DNSRECORD_SRV) == (one->port > 0));
		must(kind == DNSRECORD_TXT || (*one->text && strlen(one->text) <= 253));
	}
	must(bytes <= DNSRECORD_BYTES_MAX);
}

static void on_answer(void *arg, const struct resolver_answer *a)
{
	struct asked *asked = arg;

	must(!asked->done);
	asked->done = true;
	must(a->verdict == RESOLVER_FOUND || (a->why && *a->why));
	if (asked->kind != DNSRECORD_ADDRESS) {
		must((a->verdict == RESOLVER_FOUND) == (a->count > 0));
		check_records(a, asked->kind);
		return;
	}
	must((a->verdict == RESOLVER_FOUND) == (a->count > 0) && a->count <= DNS_ADDRESSES_MAX);
	must(a->ttl_ms >= 0);
	for (size_t i = 0; i < a->count; i++) {
		const struct dns_address *one = &a->addresses[i];

		must(one->sa.ss_family == AF_INET || one->sa.ss_family == AF_INET6);
		for (size_t k = 0; k < i; k++)
			must(memcmp(&a->addresses[k], one, sizeof(*one)) != 0);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct script script = { .at = data, .left = size };
	struct asked asked[] = { { DNSRECORD_ADDRESS, false }, { DNSRECORD_SRV, false }, { DNSRECORD_TXT, false } };
	struct resolver *r;
	unsigned quiet = 0;

	if (!server.loop)
		set_up();
	r = resolver_new(loop_base(server.loop), NULL, NULL);
	resolver_use(r, server.resolv_conf, server.port);
	for (size_t i = 0; i < sizeof(asked) / sizeof(asked[0]); i++)
		resolver_ask(r, "db.shop.example", asked[i].kind, on_answer, &asked[i]);
	for (unsigned turns = 0;
		turns < TURNS_MAX && !(asked[0].done && asked[1].done && asked[2].done) && quiet < QUIET_TURNS;
		turns++) {
		loop_turn(server.loop);
		quiet = answer_next(&script) ? 0 : quiet + 1;
	}
	resolver_free(r);
	loop_turn(server.loop);
	while (recv(server.fd, (char[16]){ 0 }, 16, 0) >= 0)
		continue;
	return 0;
}
