/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_HTTP_HTTPPAUSES_H
#define SCALERS_HTTP_HTTPPAUSES_H

/*
 * Servers that asked to be left alone (RFC 9110, 10.2.3 Retry-After, with 429, 503 or a 403 as
 * GitHub's), or said otherwise that there were too many requests (AWS's services by a code, GitHub
 * and Datadog by headers of their own), each for one login: whoever asks before then gets an error
 * at once, and nothing is sent. A pause lasts an hour at most.
 */

#include <stdint.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/web/webaccess.h"
#include "scalers/sources.h"

struct httppauses;

struct httppauses *httppauses_new(struct loop *loop);
void httppauses_free(struct httppauses *p); /* NULL is fine */

#define HTTPPAUSES_MAX_MS ((int64_t)3600 * 1000)

enum httppauses_why { HTTPPAUSES_RETRY_AFTER, HTTPPAUSES_TOO_MANY };
const char *httppauses_words(enum httppauses_why why); /* for messages: "Retry-After" */

/*
 * place: the server's origin; login: webaccess_key. One that is under way is never shortened, and
 * of two reasons for the same span the first stays.
 */
void httppauses_begin(struct httppauses *p, const char *place, const char *login, int64_t span_ms,
	enum httppauses_why why);
/* How many milliseconds are left, and why; 0: none. p may be NULL. */
int64_t httppauses_left(const struct httppauses *p, const char *place, const char *login, enum httppauses_why *why);

/* ---- The same by a request's URL and access; p may be NULL ---- */

/* Begins one where the answer asks for it by Retry-After. */
void httppauses_heed(struct httppauses *p, const char *url, const struct webaccess *access,
	const struct webresponse *answer);
/* 0, or -1 with ERR_TEMPORARY that begins with the server when the request is not to be sent. */
int httppauses_check(const struct httppauses *p, const char *url, const struct webaccess *access, struct err *err);

extern const struct sources_part httppauses_part; /* scaler_sources.pauses */

#endif
