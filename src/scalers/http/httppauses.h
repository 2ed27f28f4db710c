/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_HTTP_HTTPPAUSES_H
#define SCALERS_HTTP_HTTPPAUSES_H

/*
 * Servers that asked for a pause (RFC 9110, 10.2.3 Retry-After, with 429, 503 or GitHub's 403), or
 * reported too many requests in another way (AWS's services with a code, GitHub and Datadog with
 * headers of their own), each for one login: until then requests fail at once, and nothing is sent.
 * A pause lasts an hour at most.
 */

#include <stdint.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/web/webaccess.h"
#include "scalers/sources.h"

struct httppauses;

#define HTTPPAUSES_MAX_MS ((int64_t)3600 * 1000)

enum httppauses_why { HTTPPAUSES_RETRY_AFTER, HTTPPAUSES_TOO_MANY };

/*
 * origin: the server's; login: webaccess_key. A pause is never shortened; of two reasons for the
 * same time the first stays.
 */
void httppauses_begin(struct httppauses *p, const char *origin, const char *login, int64_t span_ms,
	enum httppauses_why why);

/* The same for a request's URL and access; p may be NULL. */

/* Begins a pause if the response has Retry-After. */
void httppauses_heed(struct httppauses *p, const char *url, const struct webaccess *access,
	const struct webresponse *answer);
/* 0, or -1 with ERR_TEMPORARY, which begins with the server, if the request must not be sent. */
int httppauses_check(const struct httppauses *p, const char *url, const struct webaccess *access, struct err *err);

extern const struct sources_part httppauses_part; /* scaler_sources.pauses */

#endif
