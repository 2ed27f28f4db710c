/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_AWSSTS_H
#define NET_IDENTITY_AWSSTS_H

/*
 * AWS's Security Token Service: roles become keys that are good for an hour. Its requests and
 * answers (the Query protocol), and those of the places that hand out keys as JSON (EKS Pod
 * Identity, the metadata server). Pure.
 */

#include "net/identity/identity.h"

struct awssts_role {
	const char *region;
	const char *endpoint; /* instead of the region's; NULL */
	const char *arn;
	const char *external_id; /* NULL */
};

/* AssumeRoleWithWebIdentity, which is not signed. */
void awssts_by_token(const struct awssts_role *role, const char *token, struct webrequest *out);
/* AssumeRole, signed. 0, or -1 with an error: the endpoint is no URL. */
int awssts_by_keys(const struct awssts_role *role, const struct credential *keys, int64_t unix_ms,
	struct webrequest *out, struct err *err);

/* 0 with the keys in *out, which was empty; else -1 with STS's code and what it says. */
int awssts_read(const struct webresponse *answer, int64_t unix_ms, struct credential *out, struct err *err);

/* The same of {"AccessKeyId", "SecretAccessKey", "Token", "Expiration"}. */
int awssts_read_json(const struct webresponse *answer, int64_t unix_ms, struct credential *out, struct err *err);

/*
 * What an error of AWS says, "AccessDenied: User ... is not authorized to perform: ...", from a
 * body in XML or JSON; the caller owns it. NULL: nothing. Cut, and without control characters.
 */
char *awssts_words(const char *body, size_t len);

/* There were too many requests, whatever the HTTP status is: it is often 400. */
bool awssts_is_throttled(const char *body, size_t len);

/* STS sends keys of which the session is over, or which it does not know any more. */
bool awssts_is_over(const char *body, size_t len);

#endif
