/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPPATH_H
#define NET_HTTP_HTTPPATH_H

/*
 * Taking a request target apart: "/apis/a%2Fb?x=1&y=2" into path and query, percent-decoding, query
 * parameters. Pure functions over what a stranger sent; net/http/httpd hands them out, the fuzzer
 * feeds them.
 */

#include <stdbool.h>
#include <stddef.h>

struct httppath {
	const char *path; /* borrowed from the target, not terminated; "" when the target is "*" or an authority */
	size_t path_len;
	const char *query; /* borrowed, without the '?'; NULL when there is none */
	size_t query_len;
};

/*
 * Splits an origin-form ("/a?b") or absolute-form ("https://host/a?b") target. A fragment, which no
 * client may send, is cut off.
 */
void httppath_split(const char *target, struct httppath *out);

/*
 * Decodes one part into out, NUL-terminated. -1, and out is "", on a bad escape, a NUL, bytes that
 * are not UTF-8, or when it does not fit.
 */
int httppath_decode(const char *text, size_t len, bool plus_is_space, char *out, size_t size);

/*
 * The raw first value of a parameter ("" for "?name" and "?name="); NULL when absent. A name that
 * does not decode matches nothing.
 */
const char *httppath_param(const char *query, size_t query_len, const char *name, size_t *value_len);

#endif
