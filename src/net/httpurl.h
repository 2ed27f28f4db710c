/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTPURL_H
#define NET_HTTPURL_H

/* URLs of requests out, by libcurl's own parser: what may be said of one in a message, and how its certificate is checked for another name. For net/httpc. */

#include <stddef.h>

#include "base/err.h"

/* "https://10.0.0.7:6443" of a URL: no credentials, path or query, which may hold secrets. "URL" when it cannot be read. Returns out. */
char *httpurl_origin(const char *url, char *out, size_t size);

/*
 * The same URL with `server_name` as its host, which is what TLS verifies; libcurl's CONNECT_TO line that leads to the real host; and the Host header
 * with the real host. The caller owns the three texts. ERR_INVALID when the URL or the name cannot be read.
 */
int httpurl_rename(const char *url, const char *server_name, char **renamed, char **route, char **host_header, struct err *err);

#endif
