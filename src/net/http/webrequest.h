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
	/*
	 * constant: the name of a header whose value is in the response, or of several with blanks
	 * between; NULL: none
	 */
	const char *wanted_header;
	size_t max_body;    /* limit of the response's size; 0: 1 MiB */
	bool spare;         /* few connections will do for this server (HTTPHOST_FEW) */
	int64_t timeout_ms; /* of this one; 0: the sender's */
	/*
	 * whoever runs kscaled named its address, or it is a cloud's metadata server: no rule for
	 * triggers' servers applies, no proxy, and no redirect is followed
	 */
	bool own;
};
void webrequest_done(struct webrequest *r);

#define WEBRESPONSE_WANTED_MAX 4

struct webresponse {                 /* borrowed */
	int status;                  /* any, except redirects that were followed; 0: none came */
	const struct err *transport; /* with status 0: why */
	const char *body;            /* NUL-terminated */
	size_t len;
	const char *content_type;                   /* "" when absent */
	const char *location;                       /* of a redirect that was not followed; "" when absent */
	const char *wanted[WEBRESPONSE_WANTED_MAX]; /* values of the headers, in their order; "" when absent */
	int64_t retry_after_ms;                     /* from Retry-After in seconds; 0 when absent */
	/*
	 * the response had a length or an end mark, so it is complete. Without that, a lost
	 * connection looks like the end of the response
	 */
	bool measured;
	const struct credential *credential; /* that was sent for an identity; NULL: none */
};

/* What is next in an exchange (net/web/exchange): of who makes its requests and reads responses. */
enum exchange_verdict {
	/* the request that was made is to be sent, or the one that was answered again */
	EXCHANGE_SEND,
	/*
	 * something must be had first, a credential mostly. A request that was made, or has just
	 * been answered, is sent (again) then; else the next one is made
	 */
	EXCHANGE_WAIT,
	EXCHANGE_NEXT,   /* of who reads: there is another request to make */
	EXCHANGE_DONE,   /* there is a result */
	EXCHANGE_FAILED, /* err says why, without a secret */
};

#endif
