/* SPDX-License-Identifier: Apache-2.0 */
#include "httpcworld.h"

#include <openssl/ssl.h>

#include "base/text.h"

#define TOKEN "{\"access_token\":\"t\",\"token_type\":\"Bearer\",\"expires_in\":3600}"

static void on_gone(void *arg)
{
	struct world *w = arg;

	w->gone++;
}

static void answer_big(struct httpd_request *r)
{
	char *big = mem_zalloc(1 << 20);

	memset(big, 'x', 1 << 20);
	httpd_reply(r, 200, "text/plain", big, 1 << 20);
	mem_free_ptr(&big);
}

static void answer_seen(struct httpd_request *r)
{
	const char *authorization = httpd_header(r, "Authorization"), *type = httpd_header(r, "Content-Type"),
		   *host = httpd_header(r, "Host");
	struct buf out = BUF_INIT((size_t)1 << 20);
	size_t len;
	const char *body = httpd_body(r, &len);

	buf_printf(&out, "%s %s auth=%s type=%s host=%s body=%.*s expect=%s accept-encoding=%s", httpd_method(r),
		httpd_uri(r), authorization ? authorization : "-", type ? type : "-", host ? host : "-", (int)len, body,
		httpd_header(r, "Expect") ? "yes" : "no", httpd_header(r, "Accept-Encoding") ? "yes" : "no");
	httpd_reply(r, 200, "application/json", out.data, out.len);
	buf_done(&out);
}

/* To the place in the query, then the credential that came with the request. */
static void redirect_to_credential(struct httpd_request *r)
{
	const char *authorization = httpd_header(r, "Authorization"), *place = strchr(httpd_uri(r), '?');
	MEM_AUTO char *location = mem_printf("%s%s.invalid/", place ? place + 1 : "", strrchr(authorization, ' ') + 1);

	httpd_add_header(r, "Location", location);
	httpd_reply(r, 302, "text/plain", "there", 5);
}

static void on_request(void *arg, struct httpd_request *r)
{
	struct world *w = arg;
	X509 *cert = httpd_tls(r) ? SSL_get1_peer_certificate(httpd_tls(r)) : NULL;

	snprintf(w->last_peer, sizeof(w->last_peer), "%s", httpd_peer(r));
	w->last_client[0] = '\0';
	if (cert)
		x509_common_name(cert, w->last_client, sizeof(w->last_client));
	X509_free(cert);
	if (strcmp(httpd_path(r), "/hold") == 0) {
		w->held = r;
		w->held_count++;
		httpd_on_gone(r, on_gone, w);
	} else if (strcmp(httpd_path(r), "/404") == 0) {
		httpd_reply(r, 404, "text/plain", "not here", 8);
	} else if (text_begins(httpd_path(r), "/rest/")) {
		httpd_add_header(r, "Retry-After", httpd_path(r) + strlen("/rest/"));
		httpd_reply(r, 200, "text/plain", "", 0);
	} else if (strcmp(httpd_path(r), "/503") == 0) {
		httpd_add_header(r, "Retry-After", "7");
		httpd_reply(r, 503, "text/plain", "busy", 4);
	} else if (strcmp(httpd_path(r), "/307") == 0) {
		httpd_add_header(r, "Location", "/elsewhere?a=b");
		httpd_reply(r, 307, "text/plain", "there", 5);
	} else if (strcmp(httpd_path(r), "/token") == 0) {
		w->tokens++;
		httpd_reply(r, 200, "application/json", TOKEN, strlen(TOKEN));
	} else if (strcmp(httpd_path(r), "/401") == 0) {
		w->refused++;
		httpd_reply(r, 401, "text/plain", "no", 2);
	} else if (strcmp(httpd_path(r), "/repeats") == 0) {
		redirect_to_credential(r);
	} else if (strcmp(httpd_path(r), "/big") == 0) {
		answer_big(r);
	} else {
		answer_seen(r);
	}
}

int world_setup(void **state)
{
	struct world *w = mem_zalloc(sizeof(*w));
	struct httpc_config config = { 0 };
	struct httpd_config server;
	struct err err = { .kind = ERR_NONE };
	void *f;

	if (fixture_setup(&f) < 0)
		return -1;
	w->f = f;
	fixture_pairs(w->f);
	httpd_config_defaults(&server);
	server.address = "127.0.0.1";
	w->plain = httpd_new(w->f->loop, &server, on_request, w, &err);
	server.tls = w->tls = tls_server_new(&err);
	tls_server_set_certificate(w->tls, w->f->serving.cert_pem, w->f->serving.key_pem, &err);
	w->secure = httpd_new(w->f->loop, &server, on_request, w, &err);
	w->c = httpc_new(w->f->loop, &config, &err);
	if (!w->plain || !w->secure || !w->c)
		return -1;
	snprintf(w->plain_url, sizeof(w->plain_url), "http://127.0.0.1:%u", httpd_port(w->plain));
	snprintf(w->secure_url, sizeof(w->secure_url), "https://127.0.0.1:%u", httpd_port(w->secure));
	*state = w;
	return 0;
}

int world_teardown(void **state)
{
	struct world *w = *state;
	void *f = w->f;

	httpc_free(w->c);
	httpd_free(w->plain);
	httpd_free(w->secure);
	tls_server_free(w->tls);
	mem_free_ptr(&w);
	return fixture_teardown(&f);
}

static void on_status(void *arg, int status)
{
	struct result *r = arg;

	assert_int_equal(r->pieces, 0);
	r->statuses++;
	r->status = status;
	if (r->cancel_on_status)
		httpc_cancel(r->call);
}

static bool on_data(void *arg, const char *bytes, size_t len)
{
	struct result *r = arg;

	assert_int_equal(r->statuses, 1);
	r->pieces++;
	if (r->streamed + len < sizeof(r->body))
		memcpy(r->body + r->streamed, bytes, len);
	r->streamed += len;
	if (r->cancel_on_data)
		httpc_cancel(r->call);
	if (r->free_on_data) {
		httpc_free(r->w->c);
		r->w->c = NULL;
	}
	if (r->start_on_data && r->pieces == 1)
		start(r->other, "/from-inside", false);
	return !r->refuse;
}

static void on_done(void *arg, const struct httpc_response *response, const struct err *err)
{
	struct result *r = arg;

	assert_int_equal(response == NULL, err != NULL);
	r->done++;
	r->call = NULL;
	if (err) {
		r->err = *err;
	} else {
		r->response = *response;
		assert_int_equal(response->body[response->len], '\0');
		if (!r->streamed)
			snprintf(r->body, sizeof(r->body), "%s", response->body);
		snprintf(r->content_type, sizeof(r->content_type), "%s", response->content_type);
		snprintf(r->location, sizeof(r->location), "%s", response->location);
	}
	if (r->start_on_done)
		start(r->other, "/from-done", false);
	else if (r->other && r->other->call)
		httpc_cancel(r->other->call);
	if (r->free_on_done) {
		httpc_free(r->w->c);
		r->w->c = NULL;
	}
}

static const struct httpc_events whole = { .on_status = on_status, .on_done = on_done },
				 streaming = { .on_status = on_status, .on_data = on_data, .on_done = on_done };

struct httpc_call *start_request(struct result *r, const char *base, const char *path, struct httpc_request request,
	bool stream)
{
	char url[256];

	snprintf(url, sizeof(url), "%s%s", base, path);
	request.url = url;
	if (!request.method)
		request.method = "GET";
	r->call = httpc_start(r->w->c, &request, stream ? &streaming : &whole, r);
	assert_non_null(r->call);
	assert_int_equal(r->done, 0); /* never before start returns */
	return r->call;
}

struct httpc_call *start(struct result *r, const char *path, bool stream)
{
	struct httpc_request request = { .deadline_ms = PATIENCE_MS };

	return start_request(r, r->w->plain_url, path, request, stream);
}

void world_without_proxies(void)
{
	unsetenv("http_proxy");
	unsetenv("https_proxy");
	unsetenv("HTTPS_PROXY");
	unsetenv("all_proxy");
	unsetenv("ALL_PROXY");
}
