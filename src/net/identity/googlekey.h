/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_GOOGLEKEY_H
#define NET_IDENTITY_GOOGLEKEY_H

/*
 * A service account of Google by its key, the JSON text that the Cloud Console hands out: a token
 * signed with it (RFC 7523, net/sign/jwt) is exchanged for an access token of one scope.
 *
 * Where that is done stands in the key, token_uri; whoever brings the key names that server, so it
 * is one of a trigger's servers like others (net/sourcerules).
 */

#include <stdint.h>

#include "net/identity/identity.h"

#define GOOGLEKEY_MONITORING_READ "https://www.googleapis.com/auth/monitoring.read"
#define GOOGLEKEY_CLOUD_PLATFORM  "https://www.googleapis.com/auth/cloud-platform"

/* Longer texts are no keys. */
#define GOOGLEKEY_TEXT_MAX ((size_t)1 << 16)

/*
 * text: the JSON; scope: one URL, or several, separated by blanks. NULL with ERR_INVALID, which
 * quotes nothing but the key's type: keys of other types are refused by name. Returns one
 * reference.
 */
struct identity *googlekey_new(const char *text, const char *scope, struct err *err);

/* The project that the key is of; borrowed; NULL: it says none, or the identity is no such key. */
const char *googlekey_project(const struct identity *i);

/* ---- For net/identity/googleown: keys that are read anew at each exchange ---- */

struct googlekey { /* empty when zeroed; owns its texts, most of which are secrets */
	char *email, *key_id, *private_key;
	char *client_id, *client_secret, *refresh_token; /* of a user; then the three above are NULL */
	char *token_url, *project;                       /* project: NULL: it says none */
};
void googlekey_done(struct googlekey *k); /* wipes */

/* Into an empty one. users: keys of users (gcloud auth application-default login) will do, too. */
int googlekey_read(const char *text, bool users, struct googlekey *out, struct err *err);

/* The request for a token. */
int googlekey_ask(const struct googlekey *k, const char *scope, int64_t unix_ms, struct webrequest *out,
	struct err *err);

/* Whether a text can be the name of a project ("my-project-1", "example.com:my-project"). */
bool googlekey_is_project(const char *text);

#endif
