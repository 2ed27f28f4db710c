/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTPD_HTTPFRAMING_H
#define NET_HTTPD_HTTPFRAMING_H

/*
 * Rejects requests that evhttp accepts although two parsers could read them differently: blanks and
 * controls in the target, controls in header values, header names that are no tokens,
 * Content-Length that is no number or repeated, or beside Transfer-Encoding. Called by
 * net/httpd/httpd for every request.
 */

struct evhttp_request;

/* What is wrong, in a word or two for the client; NULL when nothing is. */
const char *httpframing_fault(const struct evhttp_request *req);

#endif
