/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A line protocol: a line with "!" is invalid; "." closes the stream, "again" reopens it, "free"
 * frees it.
 */

#include "fixture.h"

#include <event2/buffer.h>
#include <event2/bufferevent.h>
#include <fcntl.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/mem.h"
#include "base/shares.h"
#include "net/network.h"
#include "net/stream.h"

void __real_mem_wipe(void *ptr, size_t len);
void __wrap_mem_wipe(void *ptr, size_t len);

static const void *wiped;
static size_t wiped_len;

void __wrap_mem_wipe(void *ptr, size_t len)
{
	wiped = ptr;
	wiped_len = len;
	__real_mem_wipe(ptr, len);
}

/* ---- The protocol, and its server ---- */

enum act { NOTHING, CLOSE, AGAIN, FREE };

struct link {
	struct stream stream;
	struct world *world;
};

struct world {
	struct fixture *f;
	int listener;
	struct client peer;
	struct endpoint *endpoint;
	struct tls_server *certified;
	struct stream_server server;
	struct link *link; /* NULL once freed */
	enum act when_opened, when_lost;
	const char *step; /* begun when it is opened */
	int64_t step_ms;
	int opened, lines, lost;
	char line[16]; /* the last one */
	struct err err;
	bool ended;
};

static void start(struct world *w)
{
	stream_open(&w->link->stream, &w->server);
}

static void act(struct world *w, enum act what)
{
	if (what == CLOSE || what == AGAIN)
		stream_close(&w->link->stream);
	if (what == AGAIN)
		start(w);
	if (what != FREE)
		return;
	stream_done(&w->link->stream);
	mem_free_ptr(&w->link);
}

static void on_opened(void *arg)
{
	struct world *w = ((struct link *)arg)->world;

	w->opened++;
	if (w->step)
		stream_step(&w->link->stream, w->step, w->step_ms);
	act(w, w->when_opened);
}

static int take(void *arg, struct evbuffer *input, size_t *used, struct err *err)
{
	struct world *w = ((struct link *)arg)->world;
	const char *bytes = (const char *)evbuffer_pullup(input, -1);
	size_t len = evbuffer_get_length(input);
	const char *end = bytes ? memchr(bytes, '\n', len) : NULL;

	if (bytes && *bytes == '!')
		return err_set(err, ERR_INVALID, "no line");
	if (!end)
		return 0;
	*used = (size_t)(end - bytes) + 1;
	w->link->stream.recognised = true;
	w->lines++;
	snprintf(w->line, sizeof(w->line), "%.*s", (int)(end - bytes), bytes);
	act(w,
		strcmp(w->line, ".") == 0               ? CLOSE
			: strcmp(w->line, "again") == 0 ? AGAIN
			: strcmp(w->line, "free") == 0  ? FREE
							: NOTHING);
	return 1;
}

static void on_lost(void *arg, const struct err *why, bool ended)
{
	struct world *w = ((struct link *)arg)->world;

	w->lost++;
	w->err = *why;
	w->ended = ended;
	act(w, w->when_lost);
}

static const char *hint(const void *arg)
{
	return ((const struct link *)arg)->stream.recognised ? "" : " (is it a server of lines?)";
}

static void on_endpoint_done(struct endpoint *e)
{
	e->tls = (struct tls_client_config){ 0 }; /* borrowed here */
}

static int setup(void **state)
{
	static const struct stream_events events = { on_opened, take, on_lost, hint };
	struct world *w = mem_zalloc(sizeof(*w));

	fixture_setup(state);
	w->f = *state;
	w->listener = fixture_listen(&w->server.port);
	w->endpoint = endpoint_new(sizeof(*w->endpoint), on_endpoint_done);
	endpoint_set_namespace(w->endpoint, "shop");
	w->server.host = "127.0.0.1";
	w->server.endpoint = w->endpoint;
	w->server.limit_ms = PATIENCE_MS;
	w->link = mem_zalloc(sizeof(*w->link));
	w->link->world = w;
	w->when_lost = CLOSE;
	w->peer.fd = -1;
	stream_init(&w->link->stream, w->f->loop, &events, w->link);
	*state = w;
	return 0;
}

static int teardown(void **state)
{
	struct world *w = *state;

	if (w->link)
		act(w, FREE);
	assert_int_equal(network_of(w->f->loop)->descriptors.taken, 0);
	assert_int_equal(network_of(w->f->loop)->answers.taken, 0);
	client_close(&w->peer);
	close(w->listener);
	endpoint_unref(w->endpoint);
	tls_server_free(w->certified);
	*state = w->f;
	free(w);
	return fixture_teardown(state);
}

static void expect_lost(struct world *w, const char *words, bool ended)
{
	UNTIL(w->f, w->lost > 0);
	assert_string_equal(w->err.msg, words);
	assert_int_equal(w->ended, ended);
	w->lost = 0;
}

static void accept_peer(struct world *w)
{
	client_close(&w->peer);
	UNTIL(w->f, client_accept(&w->peer, w->listener));
}

static void be_open(struct world *w)
{
	int before = w->opened;

	start(w);
	accept_peer(w);
	UNTIL(w->f, w->opened > before);
}

/* ---- Plain ---- */

static void whole_messages_are_taken(void **state)
{
	struct world *w = *state;

	start(w);
	assert_int_equal(w->opened, 0);
	assert_string_equal(w->link->stream.step, "connecting");
	assert_int_equal(stream_timed_out(&w->link->stream, &w->err), -1);
	assert_string_equal(w->err.msg, "connecting: timed out");
	accept_peer(w);
	UNTIL(w->f, w->opened);
	assert_null(w->link->stream.step);
	client_send(&w->peer, "a\nb\nc");
	UNTIL(w->f, w->lines == 2);
	assert_string_equal(w->line, "b");
	client_send(&w->peer, "\n");
	UNTIL(w->f, w->lines == 3);
	assert_string_equal(w->line, "c");
	stream_write(&w->link->stream, "to you\n", 7);
	UNTIL(w->f, client_has(&w->peer, "to you\n"));
}

static void on_turn(void *arg)
{
	stream_write(&((struct world *)arg)->link->stream, "more", 4);
}

/* All writes of a turn's callbacks leave in that turn, as one packet. */
static void writes_are_gathered(void **state)
{
	struct world *w = *state;
	struct loop_timer one, two;
	struct tcp_info info = { 0 };
	socklen_t len = sizeof(info);

	be_open(w);
	loop_timer_init(&one, w->f->loop, on_turn, w);
	loop_timer_init(&two, w->f->loop, on_turn, w);
	loop_timer_set(&one, 0);
	loop_timer_set(&two, 0);
	while (loop_timer_pending(&one))
		loop_turn(w->f->loop);
	assert_false(loop_timer_pending(&two));
	assert_true(client_has(&w->peer, "moremore"));
	assert_int_equal(getsockopt(w->peer.fd, IPPROTO_TCP, TCP_INFO, &info, &len), 0);
	assert_int_equal(info.tcpi_data_segs_in, 1);
}

static char *secret(void)
{
	return mem_dup("AUTH hunter2\n");
}

static void secrets_are_wiped(void **state)
{
	struct world *w = *state;
	struct evbuffer_iovec part;
	struct buf frame = BUF_INIT(100);
	char *bytes = secret();

	be_open(w);
	wiped = NULL;
	stream_write_secret(&w->link->stream, bytes, 13);
	assert_int_equal(evbuffer_peek(bufferevent_get_output(w->link->stream.bev), -1, NULL, &part, 1), 1);
	assert_ptr_equal(part.iov_base, bytes); /* no copy */
	assert_null(wiped);
	UNTIL(w->f, client_has(&w->peer, "AUTH hunter2\n"));
	assert_ptr_equal(wiped, bytes);
	assert_int_equal(wiped_len, 13);

	/* Also one that is never sent. */
	buf_puts(&frame, "AUTH hunter3\n");
	stream_write_frame(&w->link->stream, &frame);
	assert_int_equal(frame.len, 0);
	wiped = NULL;
	stream_close(&w->link->stream);
	UNTIL(w->f, wiped);
	assert_int_equal(wiped_len, 13);
}

static void last_words_are_sent_at_once_or_never(void **state)
{
	struct world *w = *state;
	size_t much = (size_t)16 << 20;
	char *bytes = mem_zalloc(much);

	be_open(w);
	stream_write_last(&w->link->stream, "bye\n", 4);
	stream_close(&w->link->stream);
	UNTIL(w->f, client_ended(&w->peer));
	assert_string_equal(buf_text(&w->peer.got), "bye\n");

	be_open(w);
	memset(bytes, 'x', much);
	stream_write_secret(&w->link->stream, bytes, much);
	loop_turn(w->f->loop);
	stream_write_last(&w->link->stream, "bye\n", 4);
	stream_close(&w->link->stream);
	UNTIL(w->f, client_ended(&w->peer));
	assert_in_range(w->peer.got.len, 1, much - 1);
	assert_null(strstr(buf_text(&w->peer.got), "bye"));
}

/* ---- Ends ---- */

static void ends_name_the_step(void **state)
{
	struct world *w = *state;
	uint16_t port = w->server.port;

	w->server.port = fixture_dead_port();
	start(w);
	expect_lost(w, "connecting: Connection refused", true);
	w->server.port = port;

	be_open(w);
	client_close(&w->peer);
	expect_lost(w, "the server closed the connection (is it a server of lines?)", true);

	w->step = "login";
	be_open(w);
	client_close(&w->peer);
	expect_lost(w, "login: the server closed the connection (is it a server of lines?)", true);

	be_open(w);
	client_send(&w->peer, "welcome\n");
	UNTIL(w->f, w->lines);
	client_close(&w->peer);
	expect_lost(w, "login: the server closed the connection", true);

	be_open(w);
	setsockopt(w->peer.fd, SOL_SOCKET, SO_LINGER, &(struct linger){ .l_onoff = 1 }, sizeof(struct linger));
	client_close(&w->peer);
	expect_lost(w, "login: Connection reset by peer (is it a server of lines?)", true);
}

static void steps_time_out(void **state)
{
	struct world *w = *state;
	struct stream *s = &w->link->stream;

	w->step = "login";
	w->step_ms = 1;
	be_open(w);
	expect_lost(w, "login: timed out (is it a server of lines?)", false);
	assert_null(s->step);

	be_open(w);
	stream_step(s, "opening the room", 0);
	expect_lost(w, "opening the room: timed out (is it a server of lines?)", false);

	w->step_ms = PATIENCE_MS;
	be_open(w);
	assert_true(loop_timer_pending(&s->deadline));
	stream_step(s, "computing", STREAM_UNTIMED);
	assert_false(loop_timer_pending(&s->deadline));
	stream_step(s, "login", PATIENCE_MS);
	stream_ready(s);
	assert_false(loop_timer_pending(&s->deadline));
	assert_null(s->step);
}

/*
 * The first bytes may be another protocol's, so the hint is added; later errors explain themselves.
 */
static void malformed_input(void **state)
{
	struct world *w = *state;

	w->step = "login";
	be_open(w);
	client_send(&w->peer, "!");
	expect_lost(w, "login: no line (is it a server of lines?)", false);
	be_open(w);
	client_send(&w->peer, "welcome\n!");
	expect_lost(w, "no line", false);
}

static void a_used_up_share(void **state)
{
	struct world *w = *state;
	struct shares *answers = &network_of(w->f->loop)->answers, *descriptors = &network_of(w->f->loop)->descriptors;
	MEM_AUTO char *half = mem_zalloc(ANSWERS_SMALL + 2);

	memset(half, 'x', ANSWERS_SMALL + 1);
	be_open(w);
	client_send(&w->peer, half);
	UNTIL(w->f, shares_had_by(answers, "shop") > 0);
	assert_int_equal(shares_had_by(descriptors, "shop"), 1);
	client_send(&w->peer, "\n");
	UNTIL(w->f, w->lines == 1);
	assert_int_equal(shares_had_by(answers, "shop"), 0);

	/* The bytes that the protocol keeps count, too. */
	w->link->stream.kept = ANSWERS_SMALL;
	client_send(&w->peer, "x");
	UNTIL(w->f, shares_had_by(answers, "shop") > 0);

	answers->total = 1;
	stream_close(&w->link->stream);
	be_open(w);
	client_send(&w->peer, half);
	UNTIL(w->f, w->lost);
	assert_non_null(strstr(w->err.msg, "the answer is dropped: namespace \"shop\" has"));
	assert_null(strstr(w->err.msg, "server of lines"));
	assert_false(w->ended);
	answers->total = 0;

	w->lost = 0;
	descriptors->total = 1;
	descriptors->taken = 1;
	start(w);
	UNTIL(w->f, w->lost);
	assert_memory_equal(w->err.msg, "connecting: ", 12);
	descriptors->total = descriptors->taken = 0;
}

/* ---- TLS ---- */

static void begin_tls(struct world *w, bool trusted)
{
	struct err err;

	fixture_pairs(w->f);
	if (!w->certified) {
		w->certified = tls_server_new(&err);
		assert_int_equal(tls_server_set_certificate(w->certified, w->f->serving.cert_pem, w->f->serving.key_pem,
					 &err),
			0);
	}
	w->endpoint->tls.ca_pem = trusted ? w->f->ca.cert_pem : NULL;
	w->server.tls_name = "localhost";
	start(w);
	accept_peer(w);
	assert_int_equal(w->opened, 0);
}

static bool shake(struct world *w)
{
	if (!w->peer.ssl) {
		w->peer.ssl = tls_server_session(w->certified);
		SSL_set_fd(w->peer.ssl, w->peer.fd);
	}
	return client_shake(&w->peer);
}

static void tls(void **state)
{
	struct world *w = *state;
	const SSL_CTX *context;

	begin_tls(w, true);
	UNTIL(w->f, shake(w) && w->opened);
	stream_write_secret(&w->link->stream, secret(), 13);
	UNTIL(w->f, client_has(&w->peer, "AUTH hunter2\n"));
	client_send(&w->peer, "welcome\n");
	UNTIL(w->f, w->lines);
	stream_write_last(&w->link->stream, "bye\n", 4);
	context = w->link->stream.context;
	stream_close(&w->link->stream);
	UNTIL(w->f, client_has(&w->peer, "bye\n"));

	/* Again with the same context. A certificate may be refused after the handshake. */
	w->opened = 0;
	begin_tls(w, true);
	UNTIL(w->f, shake(w) && w->opened == 1);
	assert_ptr_equal(w->link->stream.context, context);
	assert_int_equal(send(w->peer.fd, "what is no record", 17, 0), 17);
	UNTIL(w->f, w->lost);
	assert_memory_equal(w->err.msg, "TLS: ", 5);
	assert_non_null(strstr(w->err.msg, " (is it a server of lines?)"));
}

static void tls_is_refused(void **state)
{
	struct world *w = *state;
	SSL_CTX *shared = NULL;

	w->server.context = &shared;
	begin_tls(w, false);
	UNTIL(w->f, shake(w) && w->lost);
	expect_lost(w, "TLS handshake: unable to get local issuer certificate", true);
	assert_non_null(shared);
	assert_null(w->link->stream.context);

	begin_tls(w, false);
	client_send(&w->peer, "HTTP/1.1 400 Bad Request\r\n\r\n");
	expect_lost(w, "TLS handshake: wrong version number (the server does not speak TLS here)", true);

	begin_tls(w, false);
	client_close(&w->peer);
	expect_lost(w, "TLS handshake: the connection was closed (does the server speak TLS here?)", true);

	w->server.tls_name = "localhost";
	w->server.limit_ms = 50;
	start(w);
	UNTIL(w->f, w->link->stream.step && strcmp(w->link->stream.step, "TLS handshake") == 0);
	expect_lost(w, "TLS handshake: timed out (does the server speak TLS here?)", false);
	SSL_CTX_free(shared);
}

static void tls_that_cannot_start(void **state)
{
	struct world *w = *state;

	w->endpoint->tls.cert_pem = "a certificate without its key";
	w->server.tls_name = "localhost";
	start(w);
	expect_lost(w, "a client certificate and its private key belong together: the key is missing", false);
}

/* ---- From inside a callback ---- */

static void closed_while_taking(void **state)
{
	struct world *w = *state;

	be_open(w);
	client_send(&w->peer, ".\nlost\n");
	UNTIL(w->f, client_ended(&w->peer));
	assert_int_equal(w->lines, 1);

	be_open(w);
	client_send(&w->peer, "again\nlost\n");
	UNTIL(w->f, w->opened == 3);
	assert_int_equal(w->lines, 2);
	accept_peer(w);
	assert_false(w->link->stream.recognised);
	client_send(&w->peer, "kept\n");
	UNTIL(w->f, w->lines == 3);

	client_send(&w->peer, "free\nlost\n");
	UNTIL(w->f, client_ended(&w->peer));
	assert_int_equal(w->lines, 4);
	assert_int_equal(w->lost, 0);
	assert_null(w->link);
}

static void closed_when_opened(void **state)
{
	struct world *w = *state;

	w->when_opened = CLOSE;
	be_open(w);
	UNTIL(w->f, client_ended(&w->peer));
	w->when_opened = FREE;
	be_open(w);
	UNTIL(w->f, client_ended(&w->peer));
	assert_null(w->link);
	assert_int_equal(w->lost, 0);
}

static void freed_when_lost(void **state)
{
	struct world *w = *state;

	w->when_lost = AGAIN;
	be_open(w);
	client_close(&w->peer);
	UNTIL(w->f, w->opened == 2);
	accept_peer(w);
	w->when_lost = FREE;
	client_send(&w->peer, "!");
	UNTIL(w->f, client_ended(&w->peer));
	assert_null(w->link);
	assert_int_equal(w->lost, 2);
}

/* At each stage; no callback follows. */
static void closed_from_outside(void **state)
{
	struct world *w = *state;

	stream_close(&w->link->stream);
	start(w);
	stream_close(&w->link->stream);
	begin_tls(w, true);
	stream_close(&w->link->stream);
	UNTIL(w->f, client_ended(&w->peer));
	w->server.tls_name = NULL;
	be_open(w);
	client_send(&w->peer, "never taken\n");
	stream_close(&w->link->stream);
	UNTIL(w->f, client_ended(&w->peer));
	assert_int_equal(w->opened, 1);
	assert_int_equal(w->lines + w->lost, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(whole_messages_are_taken, setup, teardown),
		cmocka_unit_test_setup_teardown(writes_are_gathered, setup, teardown),
		cmocka_unit_test_setup_teardown(secrets_are_wiped, setup, teardown),
		cmocka_unit_test_setup_teardown(last_words_are_sent_at_once_or_never, setup, teardown),
		cmocka_unit_test_setup_teardown(ends_name_the_step, setup, teardown),
		cmocka_unit_test_setup_teardown(steps_time_out, setup, teardown),
		cmocka_unit_test_setup_teardown(malformed_input, setup, teardown),
		cmocka_unit_test_setup_teardown(a_used_up_share, setup, teardown),
		cmocka_unit_test_setup_teardown(tls, setup, teardown),
		cmocka_unit_test_setup_teardown(tls_is_refused, setup, teardown),
		cmocka_unit_test_setup_teardown(tls_that_cannot_start, setup, teardown),
		cmocka_unit_test_setup_teardown(closed_while_taking, setup, teardown),
		cmocka_unit_test_setup_teardown(closed_when_opened, setup, teardown),
		cmocka_unit_test_setup_teardown(freed_when_lost, setup, teardown),
		cmocka_unit_test_setup_teardown(closed_from_outside, setup, teardown),
	};

	return cmocka_run_group_tests_name("net/stream", tests, NULL, NULL);
}
