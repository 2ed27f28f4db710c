/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_GITHUBAPP_H
#define NET_IDENTITY_GITHUBAPP_H

/*
 * A GitHub App that an organization or a user has installed. A token signed with the App's key,
 * valid for some minutes, is exchanged for a token of the installation, which is valid for an hour
 * and sent as bearer. The key itself is never sent.
 */

#include "net/identity/identity.h"

struct githubapp_config {
	const char *api_url;                    /* "https://api.github.com", without a trailing slash */
	const char *application, *installation; /* their numbers */
	const char *key_pem;                    /* the App's private key */
	const char *permissions;                /* JSON: all that the token may do */
	struct identity_trust trust;
};

/* NULL with ERR_INVALID, which quotes nothing: the key is invalid. Returns one reference. */
struct identity *githubapp_new(const struct githubapp_config *config, struct err *err);

#endif
