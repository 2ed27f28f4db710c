/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_HTTP_HTTPURL_H
#define NET_HTTP_HTTPURL_H

/*
 * Functions on URLs of requests, by libcurl's parser: the part that messages may show, another name
 * for certificate verification (for net/http/httpc), user and password, host and port, and where
 * credentials may follow a redirect (for net/web/webclient).
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"

/*
 * The origin of a URL, "https://10.0.0.7:6443": without credentials, path and query, which may be
 * secret. "URL" if it cannot be parsed. Returns out.
 */
char *httpurl_origin(const char *url, char *out, size_t size);

/*
 * The URL with `server_name` as its host, which TLS then verifies; libcurl's CONNECT_TO entry for
 * the real host; and the Host header with the real host. The caller owns all three. ERR_INVALID if
 * the URL or the name cannot be parsed.
 */
int httpurl_rename(const char *url, const char *server_name, char **renamed, char **route, char **host_header,
	struct err *err);

/*
 * Splits an http or https URL into one without user, password and fragment, and its user and
 * password (decoded; NULL for none; the password is secret). The caller owns all three. ERR_INVALID
 * says what is wrong, without quoting the URL.
 */
int httpurl_split_user(const char *url, char **clean, char **user, char **password, struct err *err);
/* The URL without them, which the caller owns; NULL with err. */
char *httpurl_without_user(const char *url, struct err *err);
/* Removes all slashes at the end. */
void httpurl_cut_slashes(char *url);

/* Scheme, host and port of a URL. Owns its texts. */
struct httpurl_place {
	char *scheme; /* "http" or "https" */
	char *host;   /* a name, or an address without brackets */
	uint16_t port;
};
int httpurl_place(const char *url, struct httpurl_place *out, struct err *err);
void httpurl_place_done(struct httpurl_place *p);
/* The header Host of a request there, as libcurl sends it; for signatures. The caller owns it. */
char *httpurl_host_header(const struct httpurl_place *p);

bool httpurl_is_same(const struct httpurl_place *a, const struct httpurl_place *b); /* scheme, host and port */

/*
 * Whether a redirect may carry credentials from one server to another: to the same one, or to the
 * same host from http to https.
 */
bool httpurl_may_follow(const struct httpurl_place *from, const struct httpurl_place *to);

/* The URL with an escaped parameter appended to its query. The caller owns it. */
char *httpurl_with_parameter(const char *url, const char *name, const char *value);

#endif
