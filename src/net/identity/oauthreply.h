/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_OAUTHREPLY_H
#define NET_IDENTITY_OAUTHREPLY_H

/* What a token server says (RFC 6749, 5): for the kinds of identity that ask one. Pure. */

#include "net/identity/identity.h"

/*
 * 0 with the token and its life in *out, which was empty; else -1 with an error that quotes nothing
 * but its code (invalid_client) and Entra's number of it (AADSTS7000215).
 */
int oauthreply_read(const struct webresponse *answer, struct credential *out, struct err *err);

#endif
