/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_AWSOWN_H
#define NET_IDENTITY_AWSOWN_H

/*
 * kscaled's own AWS identity, from the first of these, in the order of Amazon's SDKs:
 *
 *   AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, with AWS_SESSION_TOKEN
 *   AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE (IAM roles for service accounts), through STS
 *   AWS_CONTAINER_CREDENTIALS_FULL_URI with AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE or ..._TOKEN
 *   (EKS Pod Identity), or AWS_CONTAINER_CREDENTIALS_RELATIVE_URI (ECS)
 *   the metadata server (IMDSv2), if the administrator allows it
 *
 * Profile files are not read. cache/auth decides who may use it.
 */

#include "net/identity/identity.h"

/* region: of the STS that is asked. Returns one reference. */
struct identity *awsown_new(const char *region);

#endif
