/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPSOCKETS_H
#define NET_HTTP_HTTPSOCKETS_H

/*
 * The sockets of one curl multi whose requests lead where strangers say: made only to where a
 * trigger's server may be (net/sourcerules), and counted as long as they are open, also between two
 * requests (net/descriptors). For net/http/httpc.
 */

#include <curl/curl.h>

#include "base/err.h"
#include "net/loop.h"

struct httpsocket;

struct httpsockets { /* a value */
	struct loop *loop;
	struct httpsocket *open;
};

/* namespace_: whose request opens it; NULL: nobody's. CURL_SOCKET_BAD with err. */
curl_socket_t httpsockets_open(struct httpsockets *s, const struct curl_sockaddr *address, const char *namespace_,
	struct err *err);
void httpsockets_close(struct httpsockets *s, curl_socket_t fd);

#endif
