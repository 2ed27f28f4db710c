/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_AWSROLE_H
#define NET_IDENTITY_AWSROLE_H

/*
 * A role that kscaled's own AWS identity assumes. Equal role, external id and region share one
 * exchange.
 */

#include <stdbool.h>

#include "net/identity/identity.h"

/*
 * by_token: try AssumeRoleWithWebIdentity first, if AWS_WEB_IDENTITY_TOKEN_FILE is set, then
 * AssumeRole. external_id: may be NULL. Returns one reference.
 */
struct identity *awsrole_new(const char *region, const char *arn, const char *external_id, bool by_token);

#endif
