/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_SIGN_MSKIAM_H
#define NET_SIGN_MSKIAM_H

/*
 * Authentication with AWS keys at a broker of Amazon MSK: a presigned request for
 * kafka-cluster:Connect, which is not sent over HTTP; the broker passes it on to IAM. For SASL
 * OAUTHBEARER it is the bearer token, for MSK's own mechanism AWS_MSK_IAM a JSON object. Pure.
 *
 * Each is valid for a quarter of an hour, so net/kafka/kafkalink makes a new one for each login.
 * The result is a secret until then; the caller owns it.
 */

#include <stdint.h>

#include "net/sign/sigv4.h"

/* key->service is ignored. */
char *mskiam_token(const struct sigv4_key *key, int64_t unix_s);
/* host: the broker's, without a port */
char *mskiam_payload(const struct sigv4_key *key, const char *host, int64_t unix_s);

#endif
