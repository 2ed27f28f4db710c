/* SPDX-License-Identifier: Apache-2.0 */
#include "nameserver.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>

#include "net/dns/names.h"
#include "net/dns/resolver.h"
#include "net/network.h"

#define UDP_BYTES 512

/* ---- Records ---- */

static void put_u16(struct nameserver_reply *r, unsigned value)
{
	r->records[r->len++] = (unsigned char)(value >> 8);
	r->records[r->len++] = (unsigned char)value;
}

/* Of the name that was asked for; the length of the data is filled in by end_record. */
static size_t begin_record(struct nameserver_reply *r, unsigned type, uint32_t ttl_s)
{
	assert_true(r->len + 2048 < sizeof(r->records));
	put_u16(r, 0xc00c);
	put_u16(r, type);
	put_u16(r, 1);
	put_u16(r, ttl_s >> 16);
	put_u16(r, ttl_s & 0xffff);
	put_u16(r, 0);
	r->count++;
	return r->len;
}

static void end_record(struct nameserver_reply *r, size_t data)
{
	r->records[data - 2] = (unsigned char)((r->len - data) >> 8);
	r->records[data - 1] = (unsigned char)(r->len - data);
}

void nameserver_put_address(struct nameserver_reply *r, uint32_t ttl_s, const unsigned char address[4])
{
	size_t data = begin_record(r, NAMESERVER_A, ttl_s);

	memcpy(r->records + r->len, address, 4);
	r->len += 4;
	end_record(r, data);
}

/* Each piece of text behind its length. */
static void put_pieces(struct nameserver_reply *r, const char *text, char end)
{
	for (;;) {
		const char *next = strchr(text, end);
		size_t len = next ? (size_t)(next - text) : strlen(text);

		r->records[r->len++] = (unsigned char)len;
		memcpy(r->records + r->len, text, len);
		r->len += len;
		if (!next)
			return;
		text = next + 1;
	}
}

void nameserver_put_service(struct nameserver_reply *r, uint32_t ttl_s, uint16_t port, const char *host)
{
	size_t data = begin_record(r, NAMESERVER_SRV, ttl_s);

	put_u16(r, 0);
	put_u16(r, 0);
	put_u16(r, port);
	if (*host)
		put_pieces(r, host, '.');
	r->records[r->len++] = 0;
	end_record(r, data);
}

void nameserver_put_text(struct nameserver_reply *r, uint32_t ttl_s, const char *text)
{
	size_t data = begin_record(r, NAMESERVER_TXT, ttl_s);

	put_pieces(r, text, '|');
	end_record(r, data);
}

/* ---- Questions ---- */

static size_t read_name(const unsigned char *packet, char *name)
{
	size_t at = 12, len = 0;

	while (packet[at]) {
		memcpy(name + len, packet + at + 1, packet[at]);
		len += packet[at];
		name[len++] = '.';
		at += 1U + packet[at];
	}
	name[len ? len - 1 : 0] = '\0';
	return at + 1;
}

/* Bytes of the reply, 0 for none. */
static size_t reply_to(struct nameserver *s, const unsigned char *question, size_t limit, unsigned char *reply)
{
	static struct nameserver_reply made;
	char name[256];
	size_t end = read_name(question, name) + 4;

	made = (struct nameserver_reply){ 0 };
	s->answer(s->arg, name, (unsigned)question[end - 4] << 8 | question[end - 3], &made);
	if (made.silent)
		return 0;
	memcpy(reply, question, end);
	memset(reply + 4, 0, 8);
	reply[5] = 1;
	reply[2] = 0x81;
	reply[3] = (unsigned char)(0x80 | made.code);
	if (end + made.len > limit) {
		reply[2] |= 2; /* truncated */
		return end;
	}
	reply[6] = (unsigned char)(made.count >> 8);
	reply[7] = (unsigned char)made.count;
	memcpy(reply + end, made.records, made.len);
	return end + made.len;
}

static void serve_udp(struct nameserver *s)
{
	unsigned char question[UDP_BYTES], reply[UDP_BYTES];
	struct sockaddr_in from;
	socklen_t from_len = sizeof(from);
	ssize_t n;

	while ((n = recvfrom(s->udp, question, sizeof(question), MSG_DONTWAIT, (struct sockaddr *)&from, &from_len)) >
		0) {
		size_t len = reply_to(s, question, UDP_BYTES, reply);

		if (len)
			sendto(s->udp, reply, len, 0, (const struct sockaddr *)&from, from_len);
	}
}

/* A question comes in one piece: both ends are here. */
static void serve_tcp(struct nameserver *s)
{
	unsigned char question[UDP_BYTES], reply[32768];

	if (s->stream < 0)
		s->stream = accept4(s->tcp, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	if (s->stream >= 0 && recv(s->stream, question, sizeof(question), 0) > 2) {
		size_t len = reply_to(s, question + 2, sizeof(reply) - 2, reply + 2);

		s->by_tcp++;
		reply[0] = (unsigned char)(len >> 8);
		reply[1] = (unsigned char)len;
		send(s->stream, reply, len + 2, MSG_NOSIGNAL);
	}
}

void nameserver_serve(struct nameserver *s)
{
	serve_udp(s);
	serve_tcp(s);
}

/* ---- Its place ---- */

void nameserver_configure(struct nameserver *s, struct fixture *f, const char *more)
{
	FILE *file = fopen(s->resolv_conf, "we");

	fprintf(file, "nameserver 127.0.0.1\n%s", more);
	fclose(file);
	resolver_use(names_resolver(network_names(f->loop)), s->resolv_conf, s->port); /* looks at once */
}

static int bind_at(int type, uint16_t *port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK),
		.sin_port = htons(*port) };
	socklen_t len = sizeof(sin);
	int fd = socket(AF_INET, type | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	if (bind(fd, (const struct sockaddr *)&sin, sizeof(sin)) < 0) {
		close(fd);
		return -1;
	}
	getsockname(fd, (struct sockaddr *)&sin, &len);
	*port = ntohs(sin.sin_port);
	return fd;
}

void nameserver_start(struct nameserver *s, struct fixture *f, nameserver_fn answer, void *arg)
{
	*s = (struct nameserver){ .answer = answer, .arg = arg, .stream = -1 };
	do { /* both on one port */
		s->port = 0;
		s->tcp = bind_at(SOCK_STREAM, &s->port);
		s->udp = bind_at(SOCK_DGRAM, &s->port);
		if (s->udp < 0)
			close(s->tcp);
	} while (s->udp < 0);
	listen(s->tcp, 8);
	strcpy(s->resolv_conf, "/tmp/resolv-XXXXXX");
	close(mkstemp(s->resolv_conf));
	nameserver_configure(s, f, "");
}

void nameserver_stop(struct nameserver *s)
{
	close(s->udp);
	close(s->tcp);
	if (s->stream >= 0)
		close(s->stream);
	unlink(s->resolv_conf);
}
