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

/* ---- For the server of a URL, and the login of an access; p may be NULL ---- */

/*
 * Begins a pause, unless span_ms is 0. why: a literal for messages. A pause is never shortened; of
 * two reasons for the same time the first stays.
 */
void httppauses_begin(struct httppauses *p, const char *url, const struct webaccess *access, int64_t span_ms,
	const char *why);
#define HTTPPAUSES_RETRY_AFTER "Retry-After"
/* Begins a pause if the response has Retry-After. */
void httppauses_heed(struct httppauses *p, const char *url, const struct webaccess *access,
	const struct webresponse *answer);
/* 0, or -1 with ERR_TEMPORARY, which begins with the server, if the request must not be sent. */
int httppauses_check(const struct httppauses *p, const char *url, const struct webaccess *access, struct err *err);

extern const struct sources_part httppauses_part; /* scaler_sources.pauses */

#endif
