/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_OAUTHREPLY_H
#define NET_IDENTITY_OAUTHREPLY_H

/* Reads a token server's response (RFC 6749, 5). Pure. */

#include "net/identity/identity.h"

/*
 * 0 with the token and its life in *out, which must be empty; -1 with an error that quotes only its
 * code (invalid_client) and Entra's error number (AADSTS7000215).
 */
int oauthreply_read(const struct webresponse *answer, struct credential *out, struct err *err);

#endif
