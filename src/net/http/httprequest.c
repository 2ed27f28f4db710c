/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http/httprequest.h"

#include <openssl/ssl.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "net/dial.h"
#include "net/http/httpurl.h"
#include "net/tls/tls.h"
#include "net/tls/tlsguard.h"
#include "net/tls/tlsroots.h"
#include "net/tls/tlsrules.h"

#define CONNECT_MS 5000
/*
 * The buffer that libcurl allocates per transfer, as large as the largest HTTP/2 frame that a
 * server may send by default. With less, libcurl 7.88 puts the rest aside and then misses the end
 * of the stream (a last DATA frame of 15,000 bytes with a buffer of 8,192 never ended).
 */
#define BUFFER_BYTES        16384L
#define UPLOAD_BUFFER_BYTES 16384L

/* ---- Checks ---- */

static bool is_line(const char *text)
{
	return text[strcspn(text, "\r\n")] == '\0';
}

static bool is_method(const char *text)
{
	size_t len = strspn(text, "ABCDEFGHIJKLMNOPQRSTUVWXYZ");

	return len > 0 && len <= 16 && text[len] == '\0';
}

static int check_request(const struct httpc_request *request, struct err *err)
{
	if (!request->method || !is_method(request->method))
		return err_set(err, ERR_INVALID, "HTTP request: bad method");
	if (!request->url || !is_line(request->url) ||
		(strncasecmp(request->url, "http://", 7) != 0 && strncasecmp(request->url, "https://", 8) != 0))
		return err_set(err, ERR_INVALID, "HTTP request: the URL must begin with http:// or https://");
	if (request->bearer && !is_line(request->bearer))
		return err_set(err, ERR_INVALID, "HTTP request: the bearer token contains a line break");
	for (size_t i = 0; request->headers && request->headers[i]; i++) {
		if (!is_line(request->headers[i]) || !strchr(request->headers[i], ':'))
			return err_set(err, ERR_INVALID, "HTTP request: header %zu is not one line \"Name: value\"",
				i + 1);
	}
	return 0;
}

/* ---- Copies ---- */

static void copy_headers(struct httprequest *r, const struct httpc_request *request)
{
	for (size_t i = 0; request->headers && request->headers[i]; i++)
		r->headers = curl_slist_append(r->headers, request->headers[i]);
	if (request->bearer) {
		char *line = mem_printf("Authorization: Bearer %s", request->bearer);

		r->headers = curl_slist_append(r->headers, line);
		mem_free_secret(line);
	}
	/* a large body must not wait for "100 Continue" */
	r->headers = curl_slist_append(r->headers, "Expect:");
}

/*
 * Verifies the certificate for a name other than the URL's host: that name replaces the host in the
 * URL, and the host goes into CONNECT_TO and Host.
 */
static int rename_server(struct httprequest *r, const char *server_name, struct err *err)
{
	char *renamed, *route, *host;

	if (httpurl_rename(r->url, server_name, &renamed, &route, &host, err) < 0)
		return -1;
	free(r->url);
	r->url = renamed;
	r->connect_to = curl_slist_append(NULL, route);
	r->headers = curl_slist_append(r->headers, host);
	free(route);
	free(host);
	return 0;
}

static bool is_tls(const struct httprequest *r)
{
	return strncasecmp(r->url, "https:", 6) == 0;
}

static int copy_request(struct httprequest *r, const struct httpc_request *request, struct err *err)
{
	r->url = mem_dup(request->url);
	r->http2 = request->http2;
	r->maybe_http2 = request->http2 || (is_tls(r) && !request->http1); /* as set_transfer tells libcurl */
	r->connect_ms = request->connect_ms ? request->connect_ms : CONNECT_MS;
	copy_headers(r, request);
	if (request->server && request->server->tls_server_name &&
		rename_server(r, request->server->tls_server_name, err) < 0)
		return -1;
	if (request->body)
		httpbody_take(&r->body, request->body, request->body_len);
	if (request->addresses)
		r->addresses = curl_slist_append(NULL, request->addresses);
	return 0;
}

/* ---- Options ---- */

static int on_curl_sockopt(void *arg, curl_socket_t fd, curlsocktype purpose)
{
	const struct httprequest *r = arg;

	if (purpose == CURLSOCKTYPE_IPCXN)
		dial_tune_socket(fd, r->dead_peer_ms);
	return CURL_SOCKOPT_OK;
}

static CURLcode on_tls(CURL *easy, void *ctx, void *arg)
{
	(void)easy;
	(void)arg;
	tlsguard_apply(ctx);
	return CURLE_OK;
}

/*
 * Whether the context is for TLS to a proxy: libcurl uses one callback for both. The option that
 * allows "BEAST", which concerns no TLS version in use, is set for proxies alone (set_roots), and
 * so tells their contexts from those of servers.
 */
static bool is_proxys(const SSL_CTX *ctx)
{
	return SSL_CTX_get_options(ctx) & SSL_OP_DONT_INSERT_EMPTY_FRAGMENTS;
}

/* For a server that can do nothing but DHE, its suites can be named in --http-tls-cipher-list. */
static CURLcode on_source_tls(CURL *easy, void *ctx, void *arg)
{
	struct httprequest *r = arg;
	struct err err;

	(void)easy;
	tlsguard_apply(ctx);
	tlsrules_apply(ctx);
	tls_trust_system(ctx, r->roots != NULL);
	if (!r->roots || is_proxys(ctx) || tls_trust_roots(ctx, r->roots, &err) == 0)
		return CURLE_OK;
	err_keep(&r->forbidden, &err);
	return CURLE_COULDNT_CONNECT;
}

static void set_transfer(struct httprequest *r, CURL *easy)
{
	bool tls = is_tls(r);

	curl_easy_setopt(easy, CURLOPT_URL, r->url);
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_FOLLOWLOCATION, 0L);
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
		r->http2 && !tls ? CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE : CURL_HTTP_VERSION_2TLS);
	/*
	 * Waits for a connection that may be shared instead of opening another; plain HTTP/1.1
	 * connections are never shared and would wait for the other response.
	 */
	curl_easy_setopt(easy, CURLOPT_PIPEWAIT, tls || r->http2 ? 1L : 0L);
	/* an HTTP proxy that forwards requests itself does not speak HTTP/2 */
	curl_easy_setopt(easy, CURLOPT_HTTPPROXYTUNNEL, r->http2 ? 1L : 0L);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, r->headers);
	curl_easy_setopt(easy, CURLOPT_SUPPRESS_CONNECT_HEADERS, 1L);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, (long)r->connect_ms);
	curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, BUFFER_BYTES);
	curl_easy_setopt(easy, CURLOPT_UPLOAD_BUFFERSIZE, UPLOAD_BUFFER_BYTES);
	curl_easy_setopt(easy, CURLOPT_SOCKOPTFUNCTION, on_curl_sockopt);
	curl_easy_setopt(easy, CURLOPT_SOCKOPTDATA, r);
	curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, on_tls); /* httpmulti sets its own to count reads */
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	/*
	 * Without this, removing a transfer during its name lookup waits for the resolver thread.
	 */
	curl_easy_setopt(easy, CURLOPT_QUICK_EXIT, 1L);
}

static void set_blob(CURL *easy, CURLoption option, const char *pem)
{
	struct curl_blob blob = { .data = (void *)(uintptr_t)pem, .len = strlen(pem), .flags = CURL_BLOB_NOCOPY };

	curl_easy_setopt(easy, option, &blob);
}

/* Without CAPATH, Debian's default would be trusted, too. */
static void set_roots(struct httprequest *r, CURL *easy, const struct httpc_server *server)
{
	if (server->system_too) {
		curl_easy_setopt(easy, CURLOPT_CAINFO, NULL);
		curl_easy_setopt(easy, CURLOPT_CAPATH, server->roots ? tlsroots_path(server->roots) : NULL);
		curl_easy_setopt(easy, CURLOPT_SSL_OPTIONS, (long)CURLSSLOPT_NO_PARTIALCHAIN);
		curl_easy_setopt(easy, CURLOPT_PROXY_SSL_OPTIONS, (long)CURLSSLOPT_ALLOW_BEAST);
		curl_easy_setopt(easy, CURLOPT_SSL_CTX_FUNCTION, on_source_tls);
		curl_easy_setopt(easy, CURLOPT_SSL_CTX_DATA, r);
		r->roots = tlsroots_ref(server->insecure ? NULL : server->roots);
	} else if (server->ca_pem) {
		set_blob(easy, CURLOPT_CAINFO_BLOB, server->ca_pem);
		curl_easy_setopt(easy, CURLOPT_CAPATH, NULL);
	}
}

static void set_server(struct httprequest *r, CURL *easy, const struct httpc_server *server)
{
	r->dead_peer_ms = server->dead_peer_ms;
	set_roots(r, easy, server);
	if (server->cert_pem && server->key_pem) {
		set_blob(easy, CURLOPT_SSLCERT_BLOB, server->cert_pem);
		set_blob(easy, CURLOPT_SSLKEY_BLOB, server->key_pem);
	}
	if (server->unix_socket)
		curl_easy_setopt(easy, CURLOPT_UNIX_SOCKET_PATH, server->unix_socket);
	if (server->proxy_url)
		curl_easy_setopt(easy, CURLOPT_PROXY, server->proxy_url);
	if (server->insecure) {
		curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, 0L);
		curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, 0L);
	}
}

/* ---- The request ---- */

static void set_options(struct httprequest *r, CURL *easy, const struct httpc_request *request)
{
	set_transfer(r, easy);
	if (request->server)
		set_server(r, easy, request->server);
	if (r->connect_to)
		curl_easy_setopt(easy, CURLOPT_CONNECT_TO, r->connect_to);
	if (request->http1)
		curl_easy_setopt(easy, CURLOPT_HTTP_VERSION, CURL_HTTP_VERSION_1_1);
	if (request->at_once)
		curl_easy_setopt(easy, CURLOPT_PIPEWAIT, 0L);
	if (r->addresses)
		curl_easy_setopt(easy, CURLOPT_RESOLVE, r->addresses);
}

/* ---- The request ---- */

int httprequest_init(struct httprequest *r, const struct httpc_request *request, CURL *easy,
	bool (*may_send)(const void *arg), const void *arg, struct err *err)
{
	if (check_request(request, err) < 0 || copy_request(r, request, err) < 0)
		return -1;
	set_options(r, easy, request);
	httpbody_set(&r->body, easy, request->method, request->in_time ? may_send : NULL, arg);
	return 0;
}

void httprequest_done(struct httprequest *r)
{
	for (struct curl_slist *h = r->headers; h; h = h->next)
		mem_wipe(h->data, strlen(h->data)); /* may hold credentials */
	curl_slist_free_all(r->headers);
	curl_slist_free_all(r->connect_to);
	curl_slist_free_all(r->addresses);
	httpbody_done(&r->body);
	tlsroots_unref(r->roots);
	err_keep(&r->forbidden, NULL);
	mem_free_ptr(&r->url);
}
