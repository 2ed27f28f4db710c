/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPBODY_H
#define NET_HTTP_HTTPBODY_H

/*
 * The body of a request, part of net/http/httprequest. It owns a copy, which may be secret, and
 * gives it to libcurl, either at once or when libcurl is about to send it.
 *
 * The latter is for writes that must not arrive late. libcurl checks the deadline before the
 * headers (CURLOPT_PREREQFUNCTION) and, with this, before the body. So a process that is stopped
 * between the two checks, or between the first check and the headers, sends no complete request
 * when it continues. For a stop between the second check and the system call, the server must judge
 * by the time limit in the headers.
 */

#include <curl/curl.h>
#include <stdbool.h>
#include <stddef.h>

struct httpbody {
	char *bytes; /* NULL: none */
	size_t len, sent;
	bool (*may_send)(const void *arg);
	const void *arg;
};

void httpbody_take(struct httpbody *b, const void *bytes, size_t len); /* copies */
void httpbody_done(struct httpbody *b);                                /* wipes; not from inside libcurl */

/* may_send NULL: libcurl gets the whole body at once. b must outlive the transfer. */
void httpbody_set(struct httpbody *b, CURL *easy, const char *method, bool (*may_send)(const void *arg),
	const void *arg);

#endif
