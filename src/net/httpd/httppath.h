/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTPD_HTTPPATH_H
#define NET_HTTPD_HTTPPATH_H

/*
 * Parses a request target ("/apis/a%2Fb?x=1&y=2"): path and query, percent-decoding, query
 * parameters. Pure functions on untrusted input, for net/httpd/httpd and the fuzzer.
 */

#include <stdbool.h>
#include <stddef.h>

struct httppath {
	const char *path; /* borrowed from the target, not terminated; "" if the target is "*" or an authority */
	size_t path_len;
	const char *query; /* borrowed, without the '?'; NULL when there is none */
	size_t query_len;
};

/*
 * Splits a target in origin form ("/a?b") or absolute form ("https://host/a?b"). A fragment, which
 * clients may not send, is dropped.
 */
void httppath_split(const char *target, struct httppath *out);

/*
 * Decodes one part into out, NUL-terminated. -1, with "" in out: an invalid escape, a NUL, invalid
 * UTF-8, or it does not fit.
 */
int httppath_decode(const char *text, size_t len, bool plus_is_space, char *out, size_t size);

/*
 * The first value of a parameter, not decoded ("" for "?name" and "?name="); NULL when absent. A
 * name that cannot be decoded matches nothing.
 */
const char *httppath_param(const char *query, size_t query_len, const char *name, size_t *value_len);

#endif
