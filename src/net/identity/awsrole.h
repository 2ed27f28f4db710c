/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_AWSROLE_H
#define NET_IDENTITY_AWSROLE_H

/*
 * A role that kscaled's own AWS identity may assume. One exchange for all who name the same role,
 * external id and region.
 */

#include <stdbool.h>

#include "net/identity/identity.h"

/*
 * by_token: AssumeRoleWithWebIdentity is tried first, with the token of
 * AWS_WEB_IDENTITY_TOKEN_FILE, if there is one; AssumeRole follows, as it does at once without.
 * external_id: NULL. Returns one reference.
 */
struct identity *awsrole_new(const char *region, const char *arn, const char *external_id, bool by_token);

#endif
