/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_SIGN_MSKIAM_H
#define NET_SIGN_MSKIAM_H

/*
 * What AWS keys say to a broker of Amazon MSK: a presigned request "may I connect?", which the
 * broker passes on to IAM. Nobody sends it over HTTP. By SASL OAUTHBEARER it is the bearer token,
 * by MSK's own mechanism AWS_MSK_IAM a JSON object. Pure: the time is a parameter.
 *
 * Each is good for a quarter of an hour, so it is made anew for each login (net/kafka/kafkalink).
 * What is returned is a secret while it lasts, and the caller owns it.
 */

#include <stdint.h>

#include "net/sign/sigv4.h"

/* key->service is not looked at. */
char *mskiam_token(const struct sigv4_key *key, int64_t unix_s);
/* host: of the broker, without its port */
char *mskiam_payload(const struct sigv4_key *key, const char *host, int64_t unix_s);

#endif
