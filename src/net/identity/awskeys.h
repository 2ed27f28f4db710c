/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_AWSKEYS_H
#define NET_IDENTITY_AWSKEYS_H

/* Fixed AWS keys: there is no exchange. */

#include "net/identity/identity.h"

/*
 * session_token may be NULL. NULL with ERR_INVALID: a text is no valid key. Returns one reference.
 */
struct identity *awskeys_new(const char *key_id, const char *secret, const char *session_token, struct err *err);

#endif
