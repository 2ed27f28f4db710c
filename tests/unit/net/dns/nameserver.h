/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_NET_DNS_NAMESERVER_H
#define TESTS_UNIT_NET_DNS_NAMESERVER_H

/*
 * A name server on loopback, over UDP and TCP, that answers as a test wants, and a resolv.conf by
 * which a loop asks it and no other. It answers when it is served, from the same thread.
 */

#include "../fixture.h"

#include <stdbool.h>

enum { NAMESERVER_A = 1, NAMESERVER_TXT = 16, NAMESERVER_AAAA = 28, NAMESERVER_SRV = 33 };
enum { NAMESERVER_BROKEN = 2, NAMESERVER_NO_NAME = 3 };

/* The answer; nothing at first: the name exists, without such records. */
struct nameserver_reply {
	bool silent;
	unsigned code, count;
	size_t len;
	unsigned char records[16384];
};
void nameserver_put_address(struct nameserver_reply *r, uint32_t ttl_s, const unsigned char address[4]);
void nameserver_put_service(struct nameserver_reply *r, uint32_t ttl_s, uint16_t port, const char *host);
void nameserver_put_text(struct nameserver_reply *r, uint32_t ttl_s, const char *text); /* '|' ends a piece */

typedef void (*nameserver_fn)(void *arg, const char *name, unsigned type, struct nameserver_reply *reply);

struct nameserver {
	nameserver_fn answer;
	void *arg;
	int udp, tcp, stream;
	uint16_t port;
	char resolv_conf[32];
	int by_tcp; /* questions */
};

/* answer: called for each question. The loop of f asks this server from now on. */
void nameserver_start(struct nameserver *s, struct fixture *f, nameserver_fn answer, void *arg);
void nameserver_stop(struct nameserver *s);
void nameserver_serve(struct nameserver *s); /* questions so far */
/* resolv.conf, with more lines; seen at once. */
void nameserver_configure(struct nameserver *s, struct fixture *f, const char *more);

#endif
