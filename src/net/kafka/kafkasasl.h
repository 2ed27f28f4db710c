/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_KAFKA_KAFKASASL_H
#define NET_KAFKA_KAFKASASL_H

/*
 * A login at a broker: the bytes to send in SaslAuthenticate, and the meaning of the answers. Pure;
 * net/kafka/kafkalink carries the bytes, and supplies token and nonce.
 *
 * Errors name the step, the mechanisms that the broker offers, and the broker's own text, unless it
 * repeats a secret.
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

#define KAFKASASL_MESSAGE_MAX ((size_t)1 << 17) /* bytes of one of our messages, which is mostly a token */

struct kafkasasl_login { /* borrowed for kafkasasl_new; what the mechanism does not need may be NULL */
	enum kafkasasl_mechanism mechanism;
	const char *username, *password;
	const char *nonce;               /* SCRAM */
	const char *token;               /* OAUTHBEARER, AWS_MSK_IAM: sent as it is */
	const char *within;              /* a secret contained in the token, perhaps encoded; may be NULL */
	const struct strmap *extensions; /* OAUTHBEARER; may be NULL */
};

struct kafkasasl;
struct scram;

struct kafkasasl *kafkasasl_new(const struct kafkasasl_login *login);
void kafkasasl_free(struct kafkasasl *s); /* wipes; NULL is fine */

/* Judges the answer to SaslHandshake; -1 with ERR_DENIED. */
int kafkasasl_judge_handshake(const struct kafkasasl *s, const struct kafkamessages_handshake *h, struct err *err);
/* Appends the first message (a secret). 0, or -1 with err. */
int kafkasasl_start(struct kafkasasl *s, struct buf *out, struct err *err);
/*
 * Takes an answer. 1: send out (a secret). 0: logged in. -1 with ERR_DENIED. KAFKASASL_SALT: salt
 * kafkasasl_scram first (net/sign/salter), then kafkasasl_prove returns one of the others.
 */
#define KAFKASASL_SALT 2
int kafkasasl_step(struct kafkasasl *s, const struct kafkamessages_authenticate *answer, struct buf *out,
	struct err *err);
struct scram *kafkasasl_scram(const struct kafkasasl *s); /* borrowed; NULL for other mechanisms */
int kafkasasl_prove(struct kafkasasl *s, struct buf *out, struct err *err);

#endif
