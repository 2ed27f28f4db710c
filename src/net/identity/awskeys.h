/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_AWSKEYS_H
#define NET_IDENTITY_AWSKEYS_H

/* AWS keys that are given: nothing is exchanged. */

#include "net/identity/identity.h"

/* NULL with ERR_INVALID: one of them cannot be sent. session_token: NULL. Returns one reference. */
struct identity *awskeys_new(const char *key_id, const char *secret, const char *session_token, struct err *err);

#endif
