/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_AWSOWN_H
#define NET_IDENTITY_AWSOWN_H

/*
 * Who kscaled itself is to AWS, by its environment, in the order of Amazon's SDKs:
 *
 *   AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, with AWS_SESSION_TOKEN
 *   AWS_ROLE_ARN and AWS_WEB_IDENTITY_TOKEN_FILE (IAM roles for service accounts), by STS
 *   AWS_CONTAINER_CREDENTIALS_FULL_URI with AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE or ..._TOKEN
 *   (EKS Pod Identity), or AWS_CONTAINER_CREDENTIALS_RELATIVE_URI (ECS)
 *   the machine's metadata server (IMDSv2), where the administrator allows it
 *
 * Profile files are not read. Who may use it is decided above: cache/auth.
 */

#include "net/identity/identity.h"

/* region: whose STS is asked. Returns one reference. */
struct identity *awsown_new(const char *region);

#endif
