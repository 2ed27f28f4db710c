/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_AWSSTS_H
#define NET_IDENTITY_AWSSTS_H

/*
 * AWS Security Token Service: keys for a role, valid for an hour. Its requests and responses (the
 * Query protocol), and the JSON of other sources of keys (EKS Pod Identity, the metadata server).
 * Pure.
 */

#include "net/identity/identity.h"

struct awssts_role {
	const char *region;
	const char *endpoint; /* NULL: the region's */
	const char *arn;
	const char *external_id; /* NULL */
};

/* AssumeRoleWithWebIdentity, unsigned. */
void awssts_by_token(const struct awssts_role *role, const char *token, struct webrequest *out);
/* AssumeRole, signed. 0, or -1 with an error: the endpoint is not a URL. */
int awssts_by_keys(const struct awssts_role *role, const struct credential *keys, int64_t unix_ms,
	struct webrequest *out, struct err *err);

/* 0 with the keys in *out, which must be empty; -1 with STS's error code and message. */
int awssts_read(const struct webresponse *answer, int64_t unix_ms, struct credential *out, struct err *err);

/* The same for {"AccessKeyId", "SecretAccessKey", "Token", "Expiration"}. */
int awssts_read_json(const struct webresponse *answer, int64_t unix_ms, struct credential *out, struct err *err);

/*
 * Code and message of an AWS error, "AccessDenied: User ... is not authorized to perform: ...",
 * from a body in XML or JSON; the caller owns it. NULL: none. One line of at most 300 bytes.
 */
char *awssts_error(const char *body, size_t len);

/* Whether the error means too many requests; the HTTP status is often 400. */
bool awssts_is_throttled(const char *body, size_t len);

/* Whether the error means that the keys have expired or are unknown. */
bool awssts_is_expired(const char *body, size_t len);

#endif
