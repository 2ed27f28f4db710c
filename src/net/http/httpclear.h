/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPCLEAR_H
#define NET_HTTP_HTTPCLEAR_H

/*
 * HTTP/2 without TLS, with prior knowledge, on libcurl before 8.0, which breaks a connection that
 * it reuses with CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE (curl issue 10634). So only a transfer that
 * opens a connection sets that option, and it never reuses one. The others use
 * CURL_HTTP_VERSION_2TLS, which works on an existing HTTP/2 connection, and must not open one, as
 * it would be HTTP/1.1. A transfer that finds no connection becomes the opener, or waits for the
 * present opener. For net/http/httpc; libcurl 8.0 and later do not need it.
 */

#include <curl/curl.h>
#include <stdbool.h>

struct httpclear_call;

struct httpclear_pool {                /* a value; one per curl multi */
	struct httpclear_call *opener; /* NULL: none is being opened */
	bool changed;                  /* waiting calls may go on; the owner resets it */
};

struct httpclear_call {              /* a value; a member of its transfer */
	struct httpclear_pool *pool; /* NULL: the workaround is not needed */
	bool joins;                  /* may only reuse a connection */
	bool stranded;               /* it found no connection to reuse */
	bool waits;                  /* for the opener */
};

bool httpclear_is_needed(const char *url);
void httpclear_init(struct httpclear_call *call, struct httpclear_pool *pool);
bool httpclear_must_wait(const struct httpclear_call *call);
void httpclear_set(struct httpclear_call *call, CURL *easy); /* before it is added to the multi */
bool httpclear_may_open(struct httpclear_call *call);        /* libcurl asks for a socket for this transfer */
/*
 * Whether libcurl has ended it only for lack of a connection. Then it is removed, and added again
 * unless httpclear_must_wait.
 */
bool httpclear_goes_on(struct httpclear_call *call);
void httpclear_done(struct httpclear_call *call); /* the transfer is over */

#endif
