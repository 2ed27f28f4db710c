/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPBODY_H
#define NET_HTTP_HTTPBODY_H

/*
 * The body of one request out, part of net/http/httprequest. It owns a copy, which may be secret,
 * and hands it to libcurl, all at once or when libcurl is about to send it.
 *
 * The latter is for writes that must not be carried out late. Before the header libcurl asks
 * whether there is time (CURLOPT_PREREQFUNCTION), and with this before the body, too: a process
 * that is stopped between the two, or between the first look and the header, sends no whole request
 * when it goes on. What it is stopped at between the second look and the system call that writes,
 * the server must tell, by what the header says of its time.
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
void httpbody_done(struct httpbody *b);                                /* wipes; not from inside of libcurl */

/* may_send NULL: libcurl gets all of it at once. b must outlive the transfer. */
void httpbody_set(struct httpbody *b, CURL *easy, const char *method, bool (*may_send)(const void *arg),
	const void *arg);

#endif
