/* SPDX-License-Identifier: Apache-2.0 */
#include "fixture.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "../fakes/fakepki.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "net/listen.h"
#include "net/network.h"

#define TICK_MS 2

static void on_tick(void *arg)
{
	struct fixture *f = arg;

	loop_timer_set(&f->tick, TICK_MS);
}

int fixture_setup(void **state)
{
	struct fixture *f = mem_zalloc(sizeof(*f));
	struct err err;

	f->loop = loop_new(&err);
	if (!f->loop)
		return -1;
	loop_timer_init(&f->tick, f->loop, on_tick, f);
	loop_timer_set(&f->tick, TICK_MS);
	*state = f;
	return 0;
}

int fixture_teardown(void **state)
{
	struct fixture *f = *state;

	loop_timer_done(&f->tick);
	loop_free(f->loop);
	x509_pair_done(&f->ca);
	x509_pair_done(&f->serving);
	tls_forget_system_store();
	mem_free_ptr(&f);
	return 0;
}

size_t fixture_descriptors(const struct fixture *f)
{
	return network_of(f->loop)->descriptors.taken;
}

void fixture_pairs(struct fixture *f)
{
	static const char *const names[] = { "localhost", "127.0.0.1", "::1", NULL };

	if (f->ca.cert_pem)
		return;
	fakepki_authority("test CA", timestamp_now_ms(), 3600, &f->ca);
	fakepki_certificate(&f->ca, names, timestamp_now_ms(), 3600, &f->serving);
}

void fixture_linger(struct fixture *f, int64_t ms)
{
	int64_t until = loop_now_ms(f->loop) + ms;

	while (loop_now_ms(f->loop) < until)
		loop_turn(f->loop);
}

/*
 * Below the range that the kernel takes outgoing connections from, and below where the live tests
 * look for theirs, which may run meanwhile.
 */
uint16_t fixture_dead_port(void)
{
	static unsigned next;
	struct err err;
	uint16_t port;
	int fd;

	if (!next)
		next = (unsigned)getpid() * 61;
	do {
		port = (uint16_t)(12000 + next++ % 8000);
		fd = listen_tcp("127.0.0.1", port, &err);
	} while (fd < 0);
	close(fd);
	return port;
}

int fixture_listen(uint16_t *port)
{
	struct err err = { .kind = ERR_NONE };
	int fd = listen_tcp("127.0.0.1", 0, &err);

	if (fd < 0)
		fail_msg("%s", err.msg);
	*port = listen_port(fd);
	return fd;
}

bool client_accept(struct client *c, int listener)
{
	*c = (struct client){ .fd = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC) };
	buf_init(&c->got, (size_t)64 << 20);
	return c->fd >= 0;
}

static void client_connect(struct client *c, int family, const void *address, socklen_t len)
{
	*c = (struct client){ .fd = socket(family, SOCK_STREAM | SOCK_CLOEXEC, 0) };
	buf_init(&c->got, (size_t)64 << 20);
	assert_int_equal(connect(c->fd, address, len), 0);
	fcntl(c->fd, F_SETFL, O_NONBLOCK);
}

void client_open_unix(struct client *c, const char *path)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };

	snprintf(sun.sun_path, sizeof(sun.sun_path), "%s", path);
	client_connect(c, AF_UNIX, &sun, sizeof(sun));
}

void client_open(struct client *c, uint16_t port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
		.sin_port = htons(port),
		.sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	client_connect(c, AF_INET, &sin, sizeof(sin));
}

void client_open_tls(struct fixture *f, struct client *c, uint16_t port, const struct tls_client_config *config)
{
	struct err err = { .kind = ERR_NONE };

	client_open(c, port);
	c->ctx = tls_client_context(config, &err);
	if (!c->ctx)
		fail_msg("%s", err.msg);
	c->ssl = tls_client_session(c->ctx, "localhost", config->insecure, &err);
	assert_non_null(c->ssl);
	SSL_set_fd(c->ssl, c->fd);
	(void)f;
}

/* True while the step only has to wait. */
static bool must_wait(struct client *c, int result)
{
	int code = SSL_get_error(c->ssl, result);

	ERR_clear_error();
	return code == SSL_ERROR_WANT_READ || code == SSL_ERROR_WANT_WRITE;
}

bool client_shake(struct client *c)
{
	int result;

	if (c->ended || SSL_is_init_finished(c->ssl))
		return true;
	result = SSL_do_handshake(c->ssl);
	if (result != 1 && !must_wait(c, result))
		c->ended = true;
	return result == 1 || c->ended;
}

void client_send(struct client *c, const char *text)
{
	size_t len = strlen(text);

	while (len > 0 && !c->ended) {
		ssize_t n = c->ssl ? SSL_write(c->ssl, text, (int)len) : send(c->fd, text, len, MSG_NOSIGNAL);

		if (n <= 0) {
			bool wait = c->ssl ? must_wait(c, (int)n) : errno == EAGAIN;

			if (!wait)
				c->ended = true;
			else
				return; /* tests that send much check the result, not how much was sent */
			continue;
		}
		text += n;
		len -= (size_t)n;
	}
}

static void client_read(struct client *c)
{
	char bytes[16384];

	while (!c->ended) {
		ssize_t n = c->ssl ? SSL_read(c->ssl, bytes, sizeof(bytes)) : recv(c->fd, bytes, sizeof(bytes), 0);

		if (n > 0) {
			buf_append(&c->got, bytes, (size_t)n);
			continue;
		}
		if (c->ssl ? must_wait(c, (int)n) : n < 0 && errno == EAGAIN)
			return;
		c->ended = true;
	}
}

bool client_has(struct client *c, const char *text)
{
	client_read(c);
	return strstr(buf_text(&c->got), text) != NULL;
}

bool client_ended(struct client *c)
{
	client_read(c);
	return c->ended;
}

void client_forget(struct client *c)
{
	buf_reset(&c->got);
}

void client_close(struct client *c)
{
	SSL_free(c->ssl);
	SSL_CTX_free(c->ctx);
	if (c->fd >= 0)
		close(c->fd);
	buf_done(&c->got);
	c->ssl = NULL;
	c->ctx = NULL;
	c->fd = -1;
	ERR_clear_error();
}
