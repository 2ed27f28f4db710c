/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPREQUEST_H
#define NET_HTTP_HTTPREQUEST_H

/*
 * Checks a request and sets it up as options of a curl easy handle. Owned by net/http/httpc, which
 * makes the handle and sets the callbacks that run during the transfer.
 */

#include <curl/curl.h>

#include "base/err.h"
#include "net/http/httpbody.h"
#include "net/http/httpterms.h"

struct tlsroots;

/* Owns copies of what the handle refers to, except the server, which it borrows. */
struct httprequest {
	char *url;        /* as sent: with the TLS server name in the place of the host, if there is one */
	bool http2;       /* HTTP/2 only */
	bool maybe_http2; /* HTTP/2, or the server may choose it */
	int64_t connect_ms, dead_peer_ms;
	struct curl_slist *headers, *connect_to, *addresses;
	struct httpbody body;
	struct tlsroots *roots; /* trusted by a new connection in addition to the system's; NULL: none */
	struct err *forbidden;  /* owned; why no connection was allowed, or no more of the response is taken; NULL */
};

/*
 * -1 with err (ERR_INVALID): the request is not valid. In either case httprequest_done must follow,
 * after the end of the handle. For a request with in_time, may_send(arg) is called before its body
 * is sent.
 */
int httprequest_init(struct httprequest *r, const struct httpc_request *request, CURL *easy,
	bool (*may_send)(const void *arg), const void *arg, struct err *err);
/* Wipes headers and body, which may be secret. A zeroed one needs nothing. */
void httprequest_done(struct httprequest *r);

#endif
