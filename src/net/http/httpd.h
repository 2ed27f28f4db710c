/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPD_H
#define NET_HTTP_HTTPD_H

/*
 * An HTTP/1.1 server over evhttp, plain, TLS or on a Unix socket, that a stranger on the network
 * cannot bring down: connections are counted at accept, each handshake and each request has an
 * absolute deadline (not one per read), headers and bodies have caps, alone and all together, as
 * have replies that nobody takes; idle connections end. Knows nothing of paths or users: every
 * request goes to one handler, which answers now or later, exactly once.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/tls.h"

struct httpd;
struct httpd_request;

struct httpd_config {
	const char *address;    /* "" or NULL: all addresses, IPv6 and IPv4 on one port; a literal otherwise */
	uint16_t port;          /* 0: a free one (httpd_port tells) */
	const char *path;       /* a Unix socket in the place of both (net/listen.h); NULL */
	const char *group;      /* that may open it; NULL */
	struct tls_server *tls; /* borrowed; NULL: plain HTTP */
	/*
	 * one more is closed at accept, before TLS, unless one that has waited a second or more
	 * without a request can give way
	 */
	int max_connections;
	int64_t handshake_ms; /* deadline of the TLS handshake */
	/*
	 * from the first byte of a request to its last; and for the client to take the reply. A
	 * request that the handler holds has no deadline here
	 */
	int64_t request_ms;
	int64_t idle_ms;    /* a kept connection without a request */
	size_t max_headers; /* bytes */
	size_t max_body;    /* bytes */
};
void httpd_config_defaults(struct httpd_config *config); /* 512 connections, 10 s, 10 s, 120 s, 32 KiB, 3 MiB */

/* The handler owns nothing: it calls httpd_reply once, now or later. */
typedef void (*httpd_handler)(void *arg, struct httpd_request *request);

struct httpd *httpd_new(struct loop *loop, const struct httpd_config *config, httpd_handler handler, void *arg,
	struct err *err);
/*
 * closes the listener, answers what is held with 503 (its on_gone is called), closes connections;
 * not from inside the handler
 */
void httpd_free(struct httpd *h);
uint16_t httpd_port(const struct httpd *h);
int httpd_connections(const struct httpd *h);

const char *httpd_method(const struct httpd_request *r); /* "GET", ... */
const char *httpd_uri(const struct httpd_request *r);    /* as sent, for the log */
const char *httpd_path(
	const struct httpd_request *r); /* percent-decoded; "" (never NULL) when it decodes to a NUL or bad UTF-8 */
/* Not decoded, without the query, not terminated: split this on '/', then decode each part. */
const char *httpd_raw_path(const struct httpd_request *r, size_t *len);
/* one part; -1 on bad escapes, NUL, or when it does not fit */
int httpd_decode(const char *text, size_t len, bool plus_is_space, char *out, size_t size);
/* decoded first value of a query parameter; NULL when absent; borrowed until the reply */
const char *httpd_query(const struct httpd_request *r, const char *name);
/* it is there, if only as what does not decode, for which httpd_query has NULL, too */
bool httpd_has_query(const struct httpd_request *r, const char *name);
const char *httpd_header(const struct httpd_request *r, const char *name); /* first value, any case; NULL when absent */
typedef void (*httpd_header_fn)(void *arg, const char *name, const char *value);
void httpd_each_header(const struct httpd_request *r, httpd_header_fn fn, void *arg);
const char *httpd_body(const struct httpd_request *r, size_t *len); /* borrowed until the reply */
const char *httpd_peer(const struct httpd_request *r);              /* "10.0.0.7:51234", "[::1]:51234", "unix" */
/* the connection's session; NULL on plain HTTP */
SSL *httpd_tls(const struct httpd_request *r);
int64_t httpd_started_ms(const struct httpd_request *r); /* loop clock */

/*
 * Something the handler keeps with the connection (who its certificate proved to be): freed by
 * free_fn when the connection closes.
 */
void *httpd_connection_data(const struct httpd_request *r);
void httpd_set_connection_data(struct httpd_request *r, void *data, void (*free_fn)(void *));

/* Its connection's next requests are read before all else that is ready (LOOP_FIRST); or not. */
void httpd_set_first(struct httpd_request *r, bool first);

/*
 * Called if the client goes away before the reply; the request is then gone: do not reply. Set it
 * when the reply will come later.
 */
void httpd_on_gone(struct httpd_request *r, void (*fn)(void *arg), void *arg);

void httpd_add_header(struct httpd_request *r, const char *name, const char *value); /* to the reply */
/*
 * Sends and ends the request; `r` is gone afterwards. HEAD gets no body. While clients have not
 * taken 8 MiB, a long one is a 503 instead.
 */
void httpd_reply(struct httpd_request *r, int status, const char *content_type, const void *body, size_t len);

#endif
