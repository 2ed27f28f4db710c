/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPTERMS_H
#define NET_HTTP_HTTPTERMS_H

/* What a request out says, and how its server is reached: what net/http/httpc_start is given. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* How a server is reached and trusted; borrowed for the call's duration. */
struct httpc_server {
	const char *ca_pem;   /* only these roots; NULL: the system's */
	const char *cert_pem; /* client certificate and key; NULL for none */
	const char *key_pem;
	const char *tls_server_name; /* verify this name instead of the URL's; NULL */
	const char *proxy_url;       /* NULL: as the environment says (HTTPS_PROXY, NO_PROXY) */
	const char *unix_socket;     /* of this host, in the place of the URL's; no proxy. NULL */
	bool insecure;
	/*
	 * a source of scalers: the rules of net/tlsrules, and the system's roots besides ca_pem;
	 * they are the store of net/tls, loaded once
	 */
	bool system_too;
};

/*
 * AWS Signature Version 4, by libcurl: over the query as it stands (sorted and escaped), and over
 * all headers of the request. Borrowed until httpc_start has returned.
 */
struct httpc_signing {
	const char *region, *service;
	const char *key_id, *secret_key;
};

struct httpc_request {
	const char *method;
	const char *url;
	const char *const *headers;          /* "Name: value" lines, NULL-terminated; copied */
	const char *bearer;                  /* sent as Authorization: Bearer; NULL for none; copied and wiped */
	const struct httpc_signing *signing; /* NULL for none */
	const char *addresses; /* where the URL's host is: "host:port:address,address", IPv6 in brackets; NULL: libcurl
				  looks it up, in a thread */
	const void *body;      /* copied; NULL for none */
	size_t body_len;
	/*
	 * who answers for the connection that it may open (net/descriptors), where strangers say
	 * where it leads; borrowed as server is; NULL: nobody in particular
	 */
	const char *namespace_;
	int64_t deadline_ms; /* from now to the last byte; 0: none (a watch) */
	/*
	 * a write that must not be carried out late: its body is not sent any more when the
	 * deadline has passed, however late libcurl comes to it
	 */
	bool in_time;
	int64_t connect_ms; /* to connect and shake hands; 0: 5,000 */
	int64_t silence_ms; /* with on_data: fails when nothing came for so long; 0: no limit */
	/*
	 * HTTP/2 or nothing, as gRPC needs it: at once on http://, agreed on by TLS (ALPN) on
	 * https://; an answer in another version is an error (invalid)
	 */
	bool http2;
	/*
	 * it opens a connection rather than wait whether another one that is being opened may be
	 * shared (HTTP/2): whoever starts requests sees to that (net/http/httphost)
	 */
	bool at_once;
	/* cap on the answer's size; 0: 16 MiB. Not counted when on_data takes it piece by piece */
	size_t max_body;
	/*
	 * HTTP/1.1, also where the server has more: over a connection that nobody else uses
	 * meanwhile
	 */
	bool http1;
	/*
	 * borrowed until the callback, or until the end of the turn in which the call was cancelled
	 */
	const struct httpc_server *server;
};

#endif
