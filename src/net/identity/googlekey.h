/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_GOOGLEKEY_H
#define NET_IDENTITY_GOOGLEKEY_H

/*
 * A Google service account with its key, the JSON file from the Cloud Console: a token signed with
 * it (RFC 7523, net/sign/jwt) is exchanged for an access token with one scope.
 *
 * The key names the server of the exchange (token_uri). So the author of the key chooses it, and it
 * is treated as one of a trigger's servers (net/sourcerules).
 */

#include <stdint.h>

#include "net/identity/identity.h"

#define GOOGLEKEY_MONITORING_READ "https://www.googleapis.com/auth/monitoring.read"
#define GOOGLEKEY_CLOUD_PLATFORM  "https://www.googleapis.com/auth/cloud-platform"

/* Longer texts are refused. */
#define GOOGLEKEY_TEXT_MAX ((size_t)1 << 16)

/*
 * text: the JSON. scope: one URL, or several separated by blanks. NULL with ERR_INVALID, which
 * quotes only the key's type if it is unsupported. Returns one reference.
 */
struct identity *googlekey_new(const char *text, const char *scope, struct err *err);

/* The key's project; borrowed. NULL: the key names none, or it is another kind of identity. */
const char *googlekey_project(const struct identity *i);

/* ---- For net/identity/googleown, which reads its key anew in each exchange ---- */

struct googlekey { /* empty when zeroed; owns its texts, most of which are secrets */
	char *email, *key_id, *private_key;
	char *client_id, *client_secret, *refresh_token; /* of a user; then the three above are NULL */
	char *token_url, *project;                       /* project: NULL if the key names none */
};
void googlekey_done(struct googlekey *k); /* wipes */

/*
 * Into an empty one. users: keys of users (gcloud auth application-default login) are accepted,
 * too.
 */
int googlekey_read(const char *text, bool users, struct googlekey *out, struct err *err);

/* Makes the token request. */
int googlekey_ask(const struct googlekey *k, const char *scope, int64_t unix_ms, struct webrequest *out,
	struct err *err);

/* Whether text is a valid project id ("my-project-1", "example.com:my-project"). */
bool googlekey_is_project(const char *text);

#endif
