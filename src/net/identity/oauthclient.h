/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_OAUTHCLIENT_H
#define NET_IDENTITY_OAUTHCLIENT_H

/*
 * The OAuth 2 client credentials grant (RFC 6749, 4.4). The client's id and secret are sent with
 * Basic authentication or, if the token server refuses that, in the form; the way that worked is
 * remembered.
 */

#include "net/identity/identity.h"

struct oauthclient_config { /* texts may be NULL, except the URL */
	const char *token_url;
	const char *client_id, *client_secret;
	const char *scopes; /* separated by blanks */
	const char *params; /* further fields of the form: "k=v&k=v", escaped */
	struct identity_trust trust;
};

/* NULL with ERR_INVALID, which names the field, never its value. Returns one reference. */
struct identity *oauthclient_new(const struct oauthclient_config *config, struct err *err);

#endif
