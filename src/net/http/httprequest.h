/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPREQUEST_H
#define NET_HTTP_HTTPREQUEST_H

/*
 * A request as libcurl takes it: what may be asked at all, and each of its fields as options of an
 * easy handle. Owned by net/http/httpc, which makes the handle, and sets besides what libcurl tells
 * it while the transfer runs.
 */

#include <curl/curl.h>

#include "base/err.h"
#include "net/http/httpbody.h"
#include "net/http/httpterms.h"

/* Owns copies of what the handle refers to, but for the server, which the request borrows. */
struct httprequest {
	char *url;        /* as it is asked for: with the server's name for TLS in the host's place, where it has one */
	bool http2;       /* nothing else will do */
	bool maybe_http2; /* it, or the server may choose it */
	int64_t connect_ms;
	struct curl_slist *headers, *connect_to, *addresses;
	struct httpbody body;
};

/*
 * -1: it cannot be asked, and err (invalid) says why. Either way httprequest_done follows, after
 * the handle's end. may_send is asked, with arg, before the body of a request that must be in_time.
 */
int httprequest_init(struct httprequest *r, const struct httpc_request *request, CURL *easy,
	bool (*may_send)(const void *arg), const void *arg, struct err *err);
void httprequest_done(struct httprequest *r); /* wipes what may be secret: headers, body. Nothing for one of zeroes */

#endif
