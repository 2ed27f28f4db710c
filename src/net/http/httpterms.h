/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPTERMS_H
#define NET_HTTP_HTTPTERMS_H

/* The arguments of httpc_start: a request, and how its server is reached. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a server is reached and verified; borrowed for the duration of the call. */
struct httpc_server {
	const char *ca_pem;          /* only these roots; NULL: the system's */
	const char *cert_pem;        /* client certificate and key; NULL for none */
	const char *key_pem;         /* without a password */
	const char *tls_server_name; /* verify this name instead of the URL's; NULL */
	const char *proxy_url;       /* NULL: from the environment (HTTPS_PROXY, NO_PROXY); "": none */
	const char *unix_socket;     /* connect to this Unix socket instead, without a proxy; NULL */
	bool insecure;
	int64_t dead_peer_ms; /* of a new connection, for net/dial's dial_tune_socket */
	/*
	 * a trigger's server: net/tls/tlsrules applies, and the system's roots (the shared store of
	 * net/tls/tls) are trusted, as well as `roots` (may be NULL), which replaces ca_pem
	 */
	bool system_too;
	struct tlsroots *roots;
};

struct httpc_request {
	const char *method;
	const char *url;
	const char *const *headers; /* "Name: value" lines, NULL-terminated; copied */
	const char *bearer;         /* sent as Authorization: Bearer; NULL for none; copied and wiped */
	const char *addresses;      /* addresses of the URL's host: "host:port:address,address", IPv6 in brackets; NULL:
				       libcurl resolves it in a thread */
	const void *body;           /* copied; NULL for none */
	size_t body_len;
	/*
	 * the namespace that a new connection counts for (net/descriptors), when the client is
	 * foreign; borrowed like server; NULL: none
	 */
	const char *namespace_;
	int64_t deadline_ms; /* from now to the last byte; 0: none (a watch) */
	/*
	 * a write that must not arrive late: the body is not sent after the deadline, however late
	 * libcurl is
	 */
	bool in_time;
	int64_t connect_ms; /* to connect and shake hands; 0: 5,000 */
	int64_t silence_ms; /* with on_data: fails if nothing comes for this long; 0: no limit */
	/*
	 * HTTP/2 only, as gRPC needs it: with prior knowledge on http://, by ALPN on https://; a
	 * response of another version is ERR_INVALID
	 */
	bool http2;
	/*
	 * opens a connection instead of waiting for one that might be shared (HTTP/2);
	 * net/http/httphost limits connections
	 */
	bool at_once;
	/* limit of the response's size; 0: 16 MiB. Not for a body that on_data receives */
	size_t max_body;
	/* HTTP/1.1 even if the server can do more, on a connection of its own */
	bool http1;
	/* borrowed until the callback, or the end of the turn in which the call was cancelled */
	const struct httpc_server *server;
};

#endif
