/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPCLEAR_H
#define NET_HTTP_HTTPCLEAR_H

/*
 * HTTP/2 without TLS, from the first byte, on libcurl before 8.0, which spoils a connection that it
 * uses again with CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE (curl issue 10634). So only the transfer that
 * opens a connection says that, and it takes no other; the rest say that HTTP/2 will do, which is
 * right on a connection that speaks it already, and may not open one, as it would speak HTTP/1.1.
 * Whoever finds none becomes the opener, or waits for the one there is. For net/http/httpc; a later
 * libcurl needs none of this.
 */

#include <curl/curl.h>
#include <stdbool.h>

struct httpclear_call;

struct httpclear_pool {                /* a value; one per curl multi */
	struct httpclear_call *opener; /* NULL: nobody is opening a connection */
	bool changed;                  /* who waited may go on; for the owner to reset */
};

struct httpclear_call {              /* a value; lives in its transfer */
	struct httpclear_pool *pool; /* NULL: nothing of this is needed */
	bool joins;                  /* may only use a connection that is there */
	bool stranded;               /* there was none */
	bool waits;                  /* for the opener */
};

bool httpclear_is_needed(const char *url);
void httpclear_init(struct httpclear_call *call, struct httpclear_pool *pool);
bool httpclear_must_wait(const struct httpclear_call *call);
void httpclear_set(struct httpclear_call *call, CURL *easy); /* before it is added to the multi */
bool httpclear_may_open(struct httpclear_call *call);        /* libcurl wants a socket for it */
/*
 * libcurl has ended it, but only because there was no connection: it is to be taken out and added
 * again, when it need not wait
 */
bool httpclear_goes_on(struct httpclear_call *call);
void httpclear_done(struct httpclear_call *call); /* the transfer is over */

#endif
