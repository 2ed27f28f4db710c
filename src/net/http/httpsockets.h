/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPSOCKETS_H
#define NET_HTTP_HTTPSOCKETS_H

/*
 * The sockets of one curl multi whose requests lead where strangers say: made only to where a
 * trigger's server may be (net/sourcerules), and counted as long as they are open, also between two
 * requests (net/descriptors). For net/http/httpc.
 *
 * libcurl 7.88 closes a socket that is not connected yet without a word, past
 * CURLOPT_CLOSESOCKETFUNCTION: so each request knows those that it made, and has them looked at
 * when it ends.
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

/* namespace_: whose request opens it; NULL: nobody's. CURL_SOCKET_BAD with err. */
curl_socket_t httpsockets_open(struct httpsockets *s, struct httpsockets_made *made,
	const struct curl_sockaddr *address, const char *namespace_, struct err *err);
void httpsockets_close(struct httpsockets *s, curl_socket_t fd);

/*
 * libcurl has let go of the request: what it closed unsaid is given back, what it keeps for the
 * next request is the multi's alone.
 */
void httpsockets_let_go(struct httpsockets *s, struct httpsockets_made *made);

void httpsockets_done(struct httpsockets *s); /* the multi is gone, and all requests */

#endif
