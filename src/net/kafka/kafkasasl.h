/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_KAFKA_KAFKASASL_H
#define NET_KAFKA_KAFKASASL_H

/*
 * A login at a broker: which bytes go into SaslAuthenticate, and what the answers mean. Pure; the
 * connection (net/kafka/kafkalink) carries the bytes, and brings token and nonce.
 *
 * Errors name the step, what the broker offers instead, and the broker's own words, but for those
 * that repeat a secret.
 */

#include "base/buf.h"
#include "base/err.h"
#include "base/strmap.h"
#include "net/kafka/kafkamessages.h"

enum kafkasasl_mechanism {
	KAFKASASL_NONE,
	KAFKASASL_PLAIN,
	KAFKASASL_SCRAM_SHA256,
	KAFKASASL_SCRAM_SHA512,
	KAFKASASL_OAUTHBEARER,
	KAFKASASL_AWS_MSK_IAM,
};
const char *kafkasasl_name(enum kafkasasl_mechanism m); /* "SCRAM-SHA-256" */

#define KAFKASASL_MESSAGE_MAX ((size_t)1 << 17) /* bytes of one of ours; a token is the largest part */

struct kafkasasl_login { /* borrowed for kafkasasl_new; texts that the mechanism does not need may be NULL */
	enum kafkasasl_mechanism mechanism;
	const char *username, *password;
	const char *nonce;               /* SCRAM */
	const char *token;               /* OAUTHBEARER, AWS_MSK_IAM: what is sent */
	const char *within;              /* a secret that stands in the token, perhaps encoded; NULL */
	const struct strmap *extensions; /* OAUTHBEARER; may be NULL */
};

struct kafkasasl;
struct scram;

struct kafkasasl *kafkasasl_new(const struct kafkasasl_login *login);
void kafkasasl_free(struct kafkasasl *s); /* wipes; NULL is fine */

/* The answer to SaslHandshake; -1 with ERR_DENIED. */
int kafkasasl_judge_handshake(const struct kafkasasl *s, const struct kafkamessages_handshake *h, struct err *err);
/* Appends the first message (a secret). 0, or -1 with err. */
int kafkasasl_start(struct kafkasasl *s, struct buf *out, struct err *err);
/*
 * An answer: 1 when out is to be sent (a secret), 0 when we are logged in, -1 with ERR_DENIED.
 * KAFKASASL_SALT: kafkasasl_scram is to be salted first (net/sign/salter); then kafkasasl_prove
 * says the same.
 */
#define KAFKASASL_SALT 2
int kafkasasl_step(struct kafkasasl *s, const struct kafkamessages_authenticate *answer, struct buf *out,
	struct err *err);
struct scram *kafkasasl_scram(const struct kafkasasl *s); /* borrowed; NULL: another mechanism */
int kafkasasl_prove(struct kafkasasl *s, struct buf *out, struct err *err);

#endif
