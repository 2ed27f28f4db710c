/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Our HTTP server, to which anybody who reaches a port may say what he wants: requests one after
 * the other, whole, cut, in pieces, with bodies; or what is to be a TLS handshake. The first byte
 * says whether the handler answers at once, later, or never, the second is the size of the pieces.
 * What it says is HTTP; when the client has left nothing is left.
 */

#include <string.h>

#include "caller.h"
#include "fuzz.h"
#include "net/httpd/httpd.h"
#include "net/tls/x509.h"

#define NO_BODY 4 /* in the first byte */
#define TLS     8
#define HURRIED 16

static struct {
	struct loop *loop;
	struct httpd *plain, *secure;
	struct tls_server *tls;
	unsigned manner;
	struct httpd_request *held;
	unsigned turns;
} server;

static void on_gone(void *arg)
{
	(void)arg;
	must(server.held);
	server.held = NULL;
}

static void on_header(void *arg, const char *name, const char *value)
{
	size_t *bytes = arg;

	*bytes += strlen(name) + strlen(value);
	must(!strpbrk(name, "\r\n") && !strpbrk(value, "\r\n"));
}

static void answer(struct httpd_request *r)
{
	size_t len, headers = 0, path_len;
	const char *body = httpd_body(r, &len), *path = httpd_raw_path(r, &path_len), *query = httpd_query(r, "q");

	httpd_each_header(r, on_header, &headers);
	must(!strpbrk(httpd_uri(r), " \r\n") && path_len <= strlen(httpd_uri(r)));
	must(!path_len || *path);
	must(!query || strlen(query) <= strlen(httpd_uri(r)));
	httpd_add_header(r, "X-Path", *httpd_path(r) == '/' ? "absolute" : "other");
	httpd_reply(r, server.manner & NO_BODY ? 204 : 200, "text/plain", body, len);
}

static void on_request(void *arg, struct httpd_request *r)
{
	(void)arg;
	must(!server.held && *httpd_method(r) != '\0');
	if (server.manner % 3 == 0) {
		answer(r);
		return;
	}
	server.held = r;
	server.turns = 0;
	httpd_on_gone(r, on_gone, NULL);
}

static void each_turn(void *arg)
{
	(void)arg;
	if (server.held && server.manner % 3 == 1 && ++server.turns > 3) {
		struct httpd_request *r = server.held;

		server.held = NULL;
		answer(r);
	}
}

static struct httpd *listen_with(struct tls_server *tls)
{
	struct httpd_config config;
	struct httpd *h;

	httpd_config_defaults(&config);
	config.address = "127.0.0.1";
	config.max_body = 1 << 16;
	config.tls = tls;
	h = httpd_new(server.loop, &config, on_request, NULL, NULL);
	must(h);
	return h;
}

static void set_up(void)
{
	static const char *const names[] = { "localhost", NULL };
	int64_t now_ms = INT64_C(1750000000000);
	struct x509_pair ca, serving;

	must(x509_make_ca("fuzz", names, now_ms, 3600, &ca, NULL) == 0);
	must(x509_make_serving(&ca, names, now_ms, 3600, &serving, NULL) == 0);
	server.tls = tls_server_new(NULL);
	must(tls_server_set_certificate(server.tls, serving.cert_pem, serving.key_pem, NULL) == 0);
	x509_pair_done(&ca);
	x509_pair_done(&serving);
	server.loop = caller_start();
	server.plain = listen_with(NULL);
	server.secure = listen_with(server.tls);
}

static void say(const uint8_t *data, size_t size)
{
	struct buf heard = BUF_INIT(1 << 20);
	struct httpd *h = data[0] & TLS ? server.secure : server.plain;
	const struct caller_words words = { .bytes = data + 2,
		.len = size - 2,
		.piece = data[1],
		.is_hurried = (data[0] & HURRIED) != 0,
		.heard = &heard };

	server.manner = data[0];
	caller_say(httpd_port(h), &words, each_turn, NULL);
	must(heard.len == 0 || h == server.secure || strncmp(heard.data, "HTTP/", 5) == 0);
	must(httpd_connections(h) == 0 && !server.held);
	buf_done(&heard);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (!server.loop)
		set_up();
	if (size >= 2)
		say(data, size);
	return 0;
}
