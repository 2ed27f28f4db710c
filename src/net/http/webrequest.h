/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_WEBREQUEST_H
#define NET_HTTP_WEBREQUEST_H

/*
 * An HTTP request as a value, and the response to it. Trigger types (scalers/http/httpsource),
 * identities (net/identity), secret managers (net/secretmanagers) and Vault (net/vault) write
 * requests and read responses, without I/O; net/web sends them.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strmap.h"

struct credential;

struct webrequest {               /* empty when zeroed */
	char *url;                /* owned, wiped; http or https, without user and password (httpurl_split_user) */
	const char *method;       /* constant; NULL: GET, or POST with a body */
	char *body;               /* owned, wiped; NULL: none. A request with a body is not redirected */
	const char *content_type; /* constant; of the body */
	struct strmap headers;    /* owned, wiped */
	/* constant: the names of wanted response headers, separated by blanks; NULL: none */
	const char *wanted_header;
	size_t max_body;    /* limit of the response's size; 0: 1 MiB */
	bool spare;         /* a few connections suffice for this server (HTTPHOST_FEW) */
	int64_t timeout_ms; /* of this request; 0: the sender's default */
	/*
	 * its address comes from kscaled's operator or is a cloud's metadata server: the rules for
	 * triggers' servers do not apply, no proxy is used, and no redirect is followed
	 */
	bool own;
};
void webrequest_done(struct webrequest *r);

#define WEBRESPONSE_WANTED_MAX 4

struct webresponse {                 /* borrowed */
	int status;                  /* any, except redirects that were followed; 0: none came */
	const struct err *transport; /* with status 0: the reason */
	const char *body;            /* NUL-terminated */
	size_t len;
	const char *content_type;                   /* "" when absent */
	const char *location;                       /* of a redirect that was not followed; "" when absent */
	const char *wanted[WEBRESPONSE_WANTED_MAX]; /* values of the headers, in their order; "" when absent */
	int64_t retry_after_ms;                     /* from Retry-After in seconds; 0 when absent */
	/*
	 * the response had a length or an end mark, so it is complete; without one, a lost
	 * connection looks like the end
	 */
	bool measured;
	const struct credential *credential; /* that was sent for an identity; NULL: none */
};

/*
 * The next step of an exchange (net/web/exchange), decided by the code that makes its requests and
 * reads its responses. Of functions that read a whole answer, 0 and -1 are verdicts.
 */
enum exchange_verdict {
	EXCHANGE_FAILED = -1, /* err has the reason, without a secret */
	EXCHANGE_DONE = 0,    /* the result is there */
	/* send the request that was made, or the answered one again */
	EXCHANGE_SEND,
	/*
	 * wait for something, usually a credential; then send the request that was made or just
	 * answered (again), or make the next one
	 */
	EXCHANGE_WAIT,
	EXCHANGE_NEXT, /* after reading: make another request */
};

#endif
