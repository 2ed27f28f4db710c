/* SPDX-License-Identifier: Apache-2.0 */
#include "caller.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"

#define PIECES_MAX  64
#define QUIET_TURNS 12 /* so long it waits for the server's next words */
#define TURNS_MAX   2000
#define LAST_TURNS  4    /* in which the server finds that it was left, ... */
#define TURN_BYTES  4096 /* ... and one for so much that it may not have read yet */

static struct {
	struct loop *loop;
	struct loop_timer tick;
} caller;

static void on_tick(void *arg)
{
	(void)arg;
	loop_timer_set(&caller.tick, 0);
}

struct loop *caller_start(void)
{
	caller.loop = loop_new(NULL);
	must(caller.loop);
	loop_timer_init(&caller.tick, caller.loop, on_tick, NULL);
	loop_timer_set(&caller.tick, 0);
	return caller.loop;
}

/* From another address each time: a port that was used stays taken for a minute. */
static int dial(uint16_t port)
{
	static uint32_t calls;
	struct sockaddr_in from = { .sin_family = AF_INET,
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK + 0x100 + calls++ % 0x10000) };
	const struct sockaddr_in to = { .sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);

	must(fd >= 0 && bind(fd, (const struct sockaddr *)&from, sizeof(from)) == 0);
	must(connect(fd, (const struct sockaddr *)&to, sizeof(to)) == 0 || errno == EINPROGRESS);
	return fd;
}

struct call {
	int fd;
	const uint8_t *at;
	size_t left, piece;
	unsigned quiet; /* turns since anybody said something */
	bool said, over, is_hurried;
};

static void go_past(struct call *c, size_t len)
{
	c->at += len;
	c->left -= len;
}

/* What is left, up to the next pause; at the pause it waits. */
static void say(struct call *c)
{
	const uint8_t *pause = c->left ? memmem(c->at, c->left, CALLER_HEAR, strlen(CALLER_HEAR)) : NULL;
	size_t len = pause ? (size_t)(pause - c->at) : c->left, piece = len < c->piece ? len : c->piece;
	ssize_t put;

	if (c->said)
		return;
	put = piece ? send(c->fd, c->at, piece, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;
	if (put > 0) {
		go_past(c, (size_t)put);
		c->quiet = 0;
	} else if (put < 0 && errno != EAGAIN) {
		c->said = true;
	} else if (!c->left && (c->is_hurried || c->quiet >= QUIET_TURNS)) {
		c->said = true;
		shutdown(c->fd, SHUT_WR);
	} else if (c->left && !len && c->quiet >= QUIET_TURNS) {
		go_past(c, strlen(CALLER_HEAR));
		c->quiet = 0;
	}
}

static void hear(struct call *c, struct buf *heard)
{
	char bytes[16384];
	ssize_t got = recv(c->fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	c->quiet++;
	if (got > 0) {
		if (heard)
			buf_append(heard, bytes, (size_t)got);
		if (c->left > strlen(CALLER_HEAR) && memcmp(c->at, CALLER_HEAR, strlen(CALLER_HEAR)) == 0)
			go_past(c, strlen(CALLER_HEAR));
		c->quiet = 0;
	} else if (got == 0 || errno != EAGAIN) {
		c->over = true;
	}
}

void caller_say(uint16_t port, const struct caller_words *words, void (*each_turn)(void *arg), void *arg)
{
	static const struct linger at_once = { .l_onoff = 1 };
	size_t least = words->len / PIECES_MAX + 1;
	struct call c = { .fd = dial(port), .at = words->bytes, .left = words->len, .is_hurried = words->is_hurried };

	c.piece = words->piece == 0 ? words->len + 1 : words->piece < least ? least : words->piece;
	for (unsigned turns = 0; turns < TURNS_MAX && !c.over && !(c.said && c.quiet > QUIET_TURNS); turns++) {
		say(&c);
		loop_turn(caller.loop);
		each_turn(arg);
		hear(&c, words->heard);
	}
	setsockopt(c.fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)); /* no port stays taken */
	close(c.fd);
	for (size_t turns = 0; turns < LAST_TURNS + words->len / TURN_BYTES; turns++) {
		loop_turn(caller.loop);
		each_turn(arg);
	}
}
