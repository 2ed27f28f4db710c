/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPSOCKETS_H
#define NET_HTTP_HTTPSOCKETS_H

/*
 * The sockets of a foreign client's curl multi, for net/http/httpc: opened only to addresses that
 * net/sourcerules allows and to proxies of kscaled's environment, and counted while open, also
 * between requests (net/descriptors).
 *
 * libcurl 7.88 closes a socket that is not connected yet without calling
 * CURLOPT_CLOSESOCKETFUNCTION. So each request keeps a list of the sockets that it opened, which
 * are checked when it ends.
 */

#include <curl/curl.h>

#include "base/err.h"
#include "net/loop.h"

struct httpsocket;

struct httpsockets { /* a value */
	struct loop *loop;
	struct httpsocket *open;
};

struct httpsockets_made { /* by one request; a value */
	struct httpsocket *first;
};

/* namespace_: of the request; NULL: none. CURL_SOCKET_BAD with err. */
curl_socket_t httpsockets_open(struct httpsockets *s, struct httpsockets_made *made,
	const struct curl_sockaddr *address, const char *namespace_, struct err *err);
void httpsockets_close(struct httpsockets *s, curl_socket_t fd);

/*
 * The request has ended: sockets that libcurl closed silently are given back; those kept for later
 * requests belong to the multi.
 */
void httpsockets_let_go(struct httpsockets *s, struct httpsockets_made *made);

void httpsockets_done(struct httpsockets *s); /* after the end of the multi and of all requests */

#endif
