/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPFRAMING_H
#define NET_HTTP_HTTPFRAMING_H

/*
 * Checks what evhttp lets through although two readers could see two different requests in it:
 * blanks and controls in the target, controls in a header's value, names of headers that are no
 * tokens, lengths that are no numbers or given twice, a length beside chunks. Used by
 * net/http/httpd on every request.
 */

struct evhttp_request;

/* What is wrong, in a word or two for the client; NULL when the request is sound. */
const char *httpframing_fault(const struct evhttp_request *req);

#endif
