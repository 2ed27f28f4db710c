/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPMULTI_H
#define NET_HTTP_HTTPMULTI_H

/*
 * One curl multi handle on the loop: its sockets are events, its time-out is a loop timer. Owned by
 * net/http/httpc. libcurl may not be called from inside its own callbacks; httpmulti_inside tells,
 * and on_returned is the moment when it may be again.
 */

#include <curl/curl.h>
#include <stdbool.h>

#include "net/loop.h"

struct httpmulti;

typedef void (*httpmulti_do_fn)(struct httpmulti *m, CURL *easy);
/* does it with each transfer that is added and may be HTTP/2; from inside */
typedef void (*httpmulti_each_fn)(void *arg, httpmulti_do_fn what);

/*
 * on_returned: libcurl has worked and returned; read what finished with httpmulti_next. The multi
 * may be freed in it.
 */
struct httpmulti *httpmulti_new(struct loop *loop, loop_fn on_returned, httpmulti_each_fn each, void *arg);
void httpmulti_free(struct httpmulti *m); /* its transfers must have been removed; closes its connections */

CURLM *httpmulti_handle(struct httpmulti *m); /* for options */
bool httpmulti_inside(const struct httpmulti *m);
void httpmulti_hear(struct httpmulti *m); /* from inside: libcurl handed on bytes of an answer */
void httpmulti_add(struct httpmulti *m, CURL *easy, bool maybe_http2); /* not from inside */
void httpmulti_remove(struct httpmulti *m, CURL *easy);                /* not from inside */

/* Transfers whose data was paused (CURL_WRITEFUNC_PAUSE) go on, those of each; not from inside. */
void httpmulti_resume(struct httpmulti *m, httpmulti_each_fn each);

/* The next finished transfer, still added; NULL when there is none. */
CURL *httpmulti_next(struct httpmulti *m, CURLcode *result);

#endif
