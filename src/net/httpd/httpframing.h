/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTPD_HTTPFRAMING_H
#define NET_HTTPD_HTTPFRAMING_H

/*
 * Rejects requests that evhttp accepts although two parsers could read them differently: blanks and
 * controls in the target, controls in header values, header names that are not tokens, a
 * Content-Length that is not a number, is repeated, or stands beside Transfer-Encoding. Called by
 * net/httpd/httpd for every request.
 */

struct evhttp_request;

/* What is wrong, in a word or two for the client; NULL: nothing. */
const char *httpframing_fault(const struct evhttp_request *req);

#endif
