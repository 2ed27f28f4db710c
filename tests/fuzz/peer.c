/* SPDX-License-Identifier: Apache-2.0 */
#include "peer.h"

#include <event2/event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "fuzz.h"
#include "net/listen.h"

#define TALKS_MAX  8 /* connections that one input may see; more are closed at once */
#define PIECES_MAX 64
#define LEFT_TURNS 6  /* without a connection: time for one that is dialled at the end of a turn */
#define HEAR_TURNS 12 /* so long it waits for the client's next words */

struct talk {
	int fd; /* -1: over */
	struct event *event;
	const uint8_t *at; /* what is to be said */
	size_t left;
	bool finished;    /* all is said */
	unsigned waiting; /* turns that it still waits for the client's words */
};

static struct {
	struct loop *loop;
	struct loop_timer tick;
	enum peer_manners manners;
	int listener;
	struct event *accepting;
	const uint8_t *script;
	size_t len, piece;
	struct talk talks[TALKS_MAX];
	unsigned count, open;
	int64_t patience_ms;
} peer = { .patience_ms = PEER_PATIENCE_MS };

/* The loop never waits, so a turn is a turn and not a time. */
static void on_tick(void *arg)
{
	(void)arg;
	loop_timer_set(&peer.tick, 0);
}

static void hang_up(struct talk *t)
{
	static const struct linger at_once = { .l_onoff = 1 };

	if (t->fd < 0)
		return;
	event_free(t->event);
	setsockopt(t->fd, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once)); /* no port stays taken */
	close(t->fd);
	t->fd = -1;
	peer.open--;
}

/* Of what is left, up to the next pause. */
static size_t words(const struct talk *t)
{
	const uint8_t *pause = t->left ? memmem(t->at, t->left, PEER_HEAR, strlen(PEER_HEAR)) : NULL;

	return pause ? (size_t)(pause - t->at) : t->left;
}

static void go_past(struct talk *t, size_t len)
{
	t->at += len;
	t->left -= len;
}

static void say_more(struct talk *t)
{
	size_t len = words(t), piece = len < peer.piece ? len : peer.piece;
	ssize_t put;

	if (t->finished || (t->waiting > 0 && --t->waiting > 0))
		return;
	put = piece ? send(t->fd, t->at, piece, MSG_DONTWAIT | MSG_NOSIGNAL) : 0;
	if (put < 0)
		return;
	go_past(t, (size_t)put);
	if ((size_t)put == len && t->left > 0) {
		go_past(t, strlen(PEER_HEAR));
		t->waiting = HEAR_TURNS;
	} else if (t->left == 0) {
		t->finished = true;
		shutdown(t->fd, SHUT_WR);
	}
}

static void on_heard(evutil_socket_t fd, short what, void *arg)
{
	struct talk *t = arg;
	char bytes[4096];
	ssize_t got = recv(fd, bytes, sizeof(bytes), MSG_DONTWAIT);

	(void)what;
	if (got > 0)
		t->waiting = 0;
	else
		hang_up(t);
}

/* The part of the script for the next connection. */
static void take_part(struct talk *t)
{
	const uint8_t *next = peer.len ? memmem(peer.script, peer.len, PEER_NEXT, strlen(PEER_NEXT)) : NULL;
	size_t len = next ? (size_t)(next - peer.script) : peer.len;
	size_t taken = next ? len + strlen(PEER_NEXT) : len;

	t->at = peer.script;
	t->left = len;
	t->finished = false;
	t->waiting = peer.manners == PEER_LISTENS ? HEAR_TURNS : 0;
	peer.script += taken;
	peer.len -= taken;
}

static void on_accept(evutil_socket_t listener, short what, void *arg)
{
	int fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC);
	struct talk *t = &peer.talks[peer.count % TALKS_MAX];

	(void)what;
	(void)arg;
	if (fd < 0)
		return;
	if (peer.count >= TALKS_MAX) {
		close(fd);
		return;
	}
	peer.count++;
	peer.open++;
	t->fd = fd;
	take_part(t);
	t->event = event_new(loop_base(peer.loop), fd, EV_READ | EV_PERSIST, on_heard, t);
	event_add(t->event, NULL);
}

struct loop *peer_start(enum peer_manners manners)
{
	struct err err;

	peer.loop = loop_new(&err);
	must(peer.loop);
	peer.manners = manners;
	peer.listener = listen_tcp("127.0.0.1", PEER_PORT, &err);
	if (peer.listener < 0)
		peer.listener = listen_tcp("127.0.0.1", 0, &err);
	must(peer.listener >= 0);
	peer.accepting = event_new(loop_base(peer.loop), peer.listener, EV_READ | EV_PERSIST, on_accept, NULL);
	event_add(peer.accepting, NULL);
	loop_timer_init(&peer.tick, peer.loop, on_tick, NULL);
	loop_timer_set(&peer.tick, 0);
	return peer.loop;
}

uint16_t peer_port(void)
{
	return listen_port(peer.listener);
}

void peer_script(const uint8_t *bytes, size_t len, size_t piece)
{
	size_t least = len / PIECES_MAX + 1;

	peer.script = bytes;
	peer.len = len;
	peer.piece = piece == 0 ? len + 1 : piece < least ? least : piece;
}

static void turn(void)
{
	loop_turn(peer.loop);
	for (unsigned i = 0; i < peer.count; i++)
		if (peer.talks[i].fd >= 0)
			say_more(&peer.talks[i]);
}

void peer_until(const bool *done)
{
	int64_t until = loop_now_ms(peer.loop) + peer.patience_ms;
	unsigned left = 0;

	while (!*done && left < LEFT_TURNS && loop_now_ms(peer.loop) < until) {
		turn();
		left = peer.count > 0 && peer.open == 0 ? left + 1 : 0;
	}
}

void peer_hurry(int64_t patience_ms)
{
	peer.patience_ms = patience_ms;
}

void peer_end(void)
{
	loop_turn(peer.loop); /* frees what was put off, and takes who is still to be closed */
	for (unsigned i = 0; i < peer.count; i++)
		hang_up(&peer.talks[i]);
	peer.count = 0;
}
