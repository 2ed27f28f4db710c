/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_GITHUBAPP_H
#define NET_IDENTITY_GITHUBAPP_H

/*
 * Who we are to GitHub: an App that an organization or a user has installed. A token that the App's
 * key signs, good for some minutes, is exchanged for one of the installation, which is good for an
 * hour and is sent as bearer. The key itself is never sent.
 */

#include "net/identity/identity.h"

struct githubapp_config {
	const char *api_url;                    /* "https://api.github.com", without a slash at its end */
	const char *application, *installation; /* their numbers */
	const char *key_pem;                    /* the App's private key */
	const char *permissions;                /* JSON: what the token may do, and no more */
	struct identity_trust trust;
};

/* NULL with ERR_INVALID, which quotes nothing: the key is none. Returns one reference. */
struct identity *githubapp_new(const struct githubapp_config *config, struct err *err);

#endif
