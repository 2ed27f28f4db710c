/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTPD_HTTPD_H
#define NET_HTTPD_HTTPD_H

/*
 * An HTTP/1.1 server on evhttp, over TCP, TLS or a Unix socket, hardened against untrusted clients.
 * Connections are counted at accept; each handshake and each request has an absolute deadline (not
 * one per read); headers, bodies, and replies that clients do not read are limited, each and in
 * total; idle connections are closed. It knows no paths or users: one handler gets every request
 * and replies exactly once, at once or later.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/tls/tls.h"

struct httpd;
struct httpd_request;

struct httpd_config {
	const char *address;    /* "" or NULL: all addresses, IPv6 and IPv4 on one port; a literal otherwise */
	uint16_t port;          /* 0: any free one (see httpd_port) */
	const char *path;       /* a Unix socket instead of address and port (net/listen.h); NULL */
	const char *group;      /* the group that may connect to it; NULL */
	struct tls_server *tls; /* borrowed; NULL: plain HTTP */
	/*
	 * At the limit a new connection is closed at accept, before TLS, unless one that has had no
	 * request for a second or more can be closed instead.
	 */
	int max_connections;
	int64_t handshake_ms; /* deadline of the TLS handshake */
	/*
	 * From the first byte of a request to its last, and for the client to read the reply. No
	 * deadline applies while the handler has the request.
	 */
	int64_t request_ms;
	int64_t idle_ms;    /* how long a connection without a request is kept */
	size_t max_headers; /* bytes */
	size_t max_body;    /* bytes */
};
void httpd_config_defaults(struct httpd_config *config); /* 512 connections, 10 s, 10 s, 120 s, 32 KiB, 3 MiB */

/* The handler owns nothing: it calls httpd_reply exactly once, at once or later. */
typedef void (*httpd_handler)(void *arg, struct httpd_request *request);

struct httpd *httpd_new(struct loop *loop, const struct httpd_config *config, httpd_handler handler, void *arg,
	struct err *err);
/*
 * Closes the listener, answers requests that the handler has with 503 (calling their on_gone), and
 * closes all connections. Not from inside the handler.
 */
void httpd_free(struct httpd *h);
uint16_t httpd_port(const struct httpd *h);
int httpd_connections(const struct httpd *h);

const char *httpd_method(const struct httpd_request *r); /* "GET", ... */
const char *httpd_uri(const struct httpd_request *r);    /* as sent, for the log */
/* For servers in tests: percent-decoded; "" when it holds a NUL or invalid UTF-8. */
const char *httpd_path(const struct httpd_request *r);
/* Not decoded, without the query, not NUL-terminated: split it at '/', then decode each part. */
const char *httpd_raw_path(const struct httpd_request *r, size_t *len);
/* Decodes one part; -1 on an invalid escape, a NUL, or when it does not fit. */
int httpd_decode(const char *text, size_t len, bool plus_is_space, char *out, size_t size);
/* The first value of a query parameter, decoded; NULL when absent; borrowed until the reply. */
const char *httpd_query(const struct httpd_request *r, const char *name);
/*
 * Whether the parameter is present, even with a value that cannot be decoded (httpd_query: NULL).
 */
bool httpd_has_query(const struct httpd_request *r, const char *name);
const char *httpd_header(const struct httpd_request *r, const char *name); /* first value, any case; NULL when absent */
typedef void (*httpd_header_fn)(void *arg, const char *name, const char *value);
void httpd_each_header(const struct httpd_request *r, httpd_header_fn fn, void *arg);
const char *httpd_body(const struct httpd_request *r, size_t *len); /* borrowed until the reply */
const char *httpd_peer(const struct httpd_request *r);              /* "10.0.0.7:51234", "[::1]:51234", "unix" */
/* the connection's session; NULL on plain HTTP */
SSL *httpd_tls(const struct httpd_request *r);

/*
 * The handler's data for the connection (such as the user whom its certificate proved); freed by
 * free_fn when the connection closes.
 */
void *httpd_connection_data(const struct httpd_request *r);
void httpd_set_connection_data(struct httpd_request *r, void *data, void (*free_fn)(void *));

/* Whether further requests of this connection are read before all other events (LOOP_FIRST). */
void httpd_set_first(struct httpd_request *r, bool first);

/*
 * Sets a callback for a client that leaves before the reply; the request is gone then and must not
 * be replied to. Needed if the reply comes later.
 */
void httpd_on_gone(struct httpd_request *r, void (*fn)(void *arg), void *arg);

void httpd_add_header(struct httpd_request *r, const char *name, const char *value); /* to the reply */
/*
 * Sends the reply and ends the request, which is gone afterwards. A HEAD request gets no body.
 * While clients have not read 8 MiB of replies, a long reply becomes a 503.
 */
void httpd_reply(struct httpd_request *r, int status, const char *content_type, const void *body, size_t len);

#endif
