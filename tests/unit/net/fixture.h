/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_NET_FIXTURE_H
#define TESTS_UNIT_NET_FIXTURE_H

/*
 * Shared by the tests of this room: a loop that never waits long, so that a test can turn it until
 * something has happened (UNTIL), and a client that speaks bytes over loopback, plain or TLS, from
 * the same thread.
 */

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/err.h"
#include "net/loop.h"
#include "net/tls/tls.h"
#include "net/tls/x509.h"

/* Only a hung test waits so long. */
#define PATIENCE_MS 30000

struct fixture {
	struct loop *loop;
	struct loop_timer tick;
	struct x509_pair ca, serving; /* for "localhost", 127.0.0.1 and ::1; made when first asked for */
};

int fixture_setup(void **state);
int fixture_teardown(void **state);
void fixture_pairs(struct fixture *f);

#define UNTIL(f, condition)                                                                                            \
	do {                                                                                                           \
		int64_t patience_until = loop_now_ms((f)->loop) + PATIENCE_MS;                                         \
		while (!(condition)) {                                                                                 \
			if (loop_now_ms((f)->loop) > patience_until)                                                   \
				fail_msg("never came true: %s", #condition);                                           \
			loop_turn((f)->loop);                                                                          \
		}                                                                                                      \
	} while (0)

/* Turns the loop for a while, for things that must NOT happen. */
void fixture_linger(struct fixture *f, int64_t ms);

/* Those that connections to servers hold, open or being opened: each one, but pg's three. */
size_t fixture_descriptors(const struct fixture *f);

struct client {
	int fd;
	SSL *ssl; /* NULL on plain */
	SSL_CTX *ctx;
	struct buf got;
	bool ended; /* the server closed (or broke) it */
};

/* 127.0.0.1; the TLS handshake needs the loop: client_shake. */
void client_open(struct client *c, uint16_t port);
void client_open_unix(struct client *c, const char *path);
void client_open_tls(struct fixture *f, struct client *c, uint16_t port, const struct tls_client_config *config);
bool client_shake(struct client *c); /* one step; true when done or ended */
void client_send(struct client *c, const char *text);
bool client_has(struct client *c,
	const char *text);            /* reads available bytes; true once everything received contains text */
bool client_ended(struct client *c);  /* reads available bytes; true once the server has closed */
void client_forget(struct client *c); /* everything received */
void client_close(struct client *c);

/* The other way round: a listener on loopback, whose accepted connection is used like a client. */
int fixture_listen(uint16_t *port);
bool client_accept(struct client *c, int listener); /* true when there was one */

/* A port of loopback without a listener, another one each time. */
uint16_t fixture_dead_port(void);

#endif
