/* SPDX-License-Identifier: Apache-2.0 */
#include "httpdserver.h"

#include "base/mem.h"

static void on_gone(void *arg)
{
	struct server *s = arg;

	s->gone++;
	s->held = NULL;
}

static void add_header_line(void *arg, const char *name, const char *value)
{
	buf_printf(arg, "%s=%s;", name, value);
}

static void describe(struct httpd_request *r, struct buf *out)
{
	size_t body_len, path_len;
	const char *raw_path = httpd_raw_path(r, &path_len);
	const char *query = httpd_query(r, "q"), *header = httpd_header(r, "x-test");

	buf_printf(out, "method=%s uri=%s path=%s raw=%.*s query=%s header=%s ", httpd_method(r), httpd_uri(r),
		httpd_path(r), (int)path_len, raw_path,
		query                             ? query
			: httpd_has_query(r, "q") ? "(bad)"
						  : "(none)",
		header ? header : "(none)");
	httpd_body(r, &body_len);
	buf_printf(out, "body=%zu tls=%d peer=%s headers=", body_len, httpd_tls(r) != NULL, httpd_peer(r));
	httpd_each_header(r, add_header_line, out);
	buf_puts(out, "\n");
}

void server_on_request(void *arg, struct httpd_request *r)
{
	struct server *s = arg;
	struct buf out = BUF_INIT((size_t)4 << 20);
	size_t len;
	const char *body;

	s->requests++;
	if (strcmp(httpd_path(r), "/hold") == 0) {
		s->held = r;
		httpd_on_gone(r, on_gone, s);
		return;
	}
	if (strcmp(httpd_path(r), "/echo") == 0) {
		body = httpd_body(r, &len);
		httpd_reply(r, 200, "text/plain", body, len);
		return;
	}
	if (strcmp(httpd_path(r), "/big") == 0 || strcmp(httpd_path(r), "/huge") == 0) {
		size_t size = (size_t)1 << (httpd_path(r)[1] == 'b' ? 20 : 25);
		char *big = mem_zalloc(size);

		memset(big, 'x', size);
		httpd_reply(r, 200, "text/plain", big, size);
		mem_free_ptr(&big);
		return;
	}
	describe(r, &out);
	httpd_add_header(r, "X-Reply", "yes");
	httpd_reply(r, 200, "text/plain", out.data, out.len);
	buf_done(&out);
}

int server_setup(void **state)
{
	struct server *s = mem_zalloc(sizeof(*s));
	void *f;

	if (fixture_setup(&f) < 0)
		return -1;
	s->f = f;
	*state = s;
	return 0;
}

int server_teardown(void **state)
{
	struct server *s = *state;
	void *f = s->f;

	httpd_free(s->h);
	tls_server_free(s->tls);
	mem_free_ptr(&s);
	return fixture_teardown(&f);
}

void server_start(struct server *s, const struct httpd_config *config, bool tls)
{
	struct httpd_config own = *config;
	struct err err = { .kind = ERR_NONE };

	if (tls) {
		fixture_pairs(s->f);
		s->tls = tls_server_new(&err);
		assert_int_equal(tls_server_set_certificate(s->tls, s->f->serving.cert_pem, s->f->serving.key_pem,
					 &err),
			0);
		own.tls = s->tls;
	}
	own.address = own.address ? own.address : "127.0.0.1";
	s->h = httpd_new(s->f->loop, &own, server_on_request, s, &err);
	if (!s->h)
		fail_msg("%s", err.msg);
}

void server_stop(struct server *s)
{
	httpd_free(s->h);
	s->h = NULL;
	tls_server_free(s->tls);
	s->tls = NULL;
}

struct httpd_config server_defaults(void)
{
	struct httpd_config config;

	httpd_config_defaults(&config);
	return config;
}

void server_open_client(struct server *s, struct client *c)
{
	struct tls_client_config trust = { .ca_pem = s->f->ca.cert_pem };

	if (!s->tls) {
		client_open(c, httpd_port(s->h));
		return;
	}
	client_open_tls(s->f, c, httpd_port(s->h), &trust);
	UNTIL(s->f, client_shake(c));
	assert_false(c->ended);
}
