/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPMULTI_H
#define NET_HTTP_HTTPMULTI_H

/*
 * One curl multi handle on the loop: its sockets are libevent events, its time-out is a timer.
 * Owned by net/http/httpc. libcurl must not be called from inside its own callbacks:
 * httpmulti_inside tells whether one is running, and on_returned is called afterwards.
 */

#include <curl/curl.h>
#include <stdbool.h>
#include <stdint.h>

#include "net/loop.h"

struct httpmulti;

typedef void (*httpmulti_do_fn)(struct httpmulti *m, CURL *easy);
/* calls `what` for each added transfer that may be HTTP/2; from inside libcurl */
typedef void (*httpmulti_each_fn)(void *arg, httpmulti_do_fn what);

/*
 * on_returned: libcurl has returned; httpmulti_next has the finished transfers. It may free the
 * multi.
 */
struct httpmulti *httpmulti_new(struct loop *loop, loop_fn on_returned, httpmulti_each_fn each, void *arg);
void httpmulti_free(struct httpmulti *m); /* all transfers must have been removed; closes the connections */

CURLM *httpmulti_handle(struct httpmulti *m); /* for options */
bool httpmulti_inside(const struct httpmulti *m);
/* Called from inside: libcurl has handed on so many bytes of a response's body. */
void httpmulti_hear(struct httpmulti *m, size_t len);
/*
 * Not from inside. count_reads: counts what is read through TLS, by a CURLOPT_SSL_CTX_FUNCTION, so
 * the caller may not set one; the same for all transfers that may share a connection.
 */
void httpmulti_add(struct httpmulti *m, CURL *easy, bool maybe_http2, bool count_reads);
void httpmulti_remove(struct httpmulti *m, CURL *easy); /* not from inside */

/* Resumes the paused transfers (CURL_WRITEFUNC_PAUSE) that `each` selects; not from inside. */
void httpmulti_resume(struct httpmulti *m, httpmulti_each_fn each);

/*
 * The socket of the connection that a transfer under way has, perhaps shared; CURL_SOCKET_BAD if it
 * has none, or an unknown one. (CURLINFO_ACTIVESOCKET is set only when a transfer ends.)
 */
curl_socket_t httpmulti_socket(const struct httpmulti *m, CURL *easy);
/*
 * How long ago the last byte came, by the kernel's account, including bytes that were not read; 0:
 * not known.
 */
int64_t httpmulti_silent_ms(curl_socket_t fd);

/* The next finished transfer, which is still added; NULL: none. */
CURL *httpmulti_next(struct httpmulti *m, CURLcode *result);

#endif
