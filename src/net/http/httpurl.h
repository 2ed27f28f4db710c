/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPURL_H
#define NET_HTTP_HTTPURL_H

/*
 * URLs of requests out, by libcurl's own parser: what may be said of one in a message, how its
 * certificate is checked for another name (for net/http/httpc); its user and password apart from
 * it, where it leads, and what may follow there (for net/web/webget and who asks it).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * "https://10.0.0.7:6443" of a URL: no credentials, path or query, which may hold secrets. "URL"
 * when it cannot be read. Returns out.
 */
char *httpurl_origin(const char *url, char *out, size_t size);

/*
 * The same URL with `server_name` as its host, which is what TLS verifies; libcurl's CONNECT_TO
 * line that leads to the real host; and the Host header with the real host. The caller owns the
 * three texts. ERR_INVALID when the URL or the name cannot be read.
 */
int httpurl_rename(const char *url, const char *server_name, char **renamed, char **route, char **host_header,
	struct err *err);

/*
 * An http or https URL without user, password and fragment, and the user and password that it had
 * (decoded; NULL for none; the password is a secret). The caller owns the three. ERR_INVALID says
 * what is wrong with it, without repeating it.
 */
int httpurl_split_user(const char *url, char **clean, char **user, char **password, struct err *err);

/* Where a URL leads. Owns its texts. */
struct httpurl_place {
	char *scheme; /* "http" or "https" */
	char *host;   /* a name, or an address without brackets */
	uint16_t port;
};
int httpurl_place(const char *url, struct httpurl_place *out, struct err *err);
void httpurl_place_done(struct httpurl_place *p);

bool httpurl_is_same(const struct httpurl_place *a, const struct httpurl_place *b); /* scheme, host and port */

/* Whether credentials meant for one place may go to another: the same, or the same host by TLS. */
bool httpurl_may_follow(const struct httpurl_place *from, const struct httpurl_place *to);

/* The URL with one more parameter in its query, escaped. The caller owns it. */
char *httpurl_with_parameter(const char *url, const char *name, const char *value);

#endif
