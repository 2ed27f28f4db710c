/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_OAUTHCLIENT_H
#define NET_IDENTITY_OAUTHCLIENT_H

/*
 * An OAuth 2 client by its own credentials (RFC 6749, 4.4). The client's id and secret are sent as
 * Basic credentials or, when the token server does not accept that, in the form; what worked is
 * remembered.
 */

#include "net/identity/identity.h"

struct oauthclient_config { /* texts may be NULL, but for the URL */
	const char *token_url;
	const char *client_id, *client_secret;
	const char *scopes; /* separated by blanks */
	const char *params; /* further fields of the form: "k=v&k=v", escaped */
	struct identity_trust trust;
};

/* NULL with ERR_INVALID, which names the field, never its value. Returns one reference. */
struct identity *oauthclient_new(const struct oauthclient_config *config, struct err *err);

#endif
