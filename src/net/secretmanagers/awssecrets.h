/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_SECRETMANAGERS_AWSSECRETS_H
#define NET_SECRETMANAGERS_AWSSECRETS_H

/*
 * AWS Secrets Manager: GetSecretValue, as JSON 1.1, signed for the service "secretsmanager". A
 * secret is named by its name or its ARN. Its value is a text, often a JSON object whose members
 * are texts ("secretKey").
 */

#include "net/secretmanagers/secretmanager.h"

#define AWSSECRETS_SERVICE "secretsmanager"

extern const struct secretmanager awssecrets;

#endif
