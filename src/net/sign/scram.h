/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_SIGN_SCRAM_H
#define NET_SIGN_SCRAM_H

/*
 * The client's side of SCRAM-SHA-1, SCRAM-SHA-256 and SCRAM-SHA-512 (RFC 5802, RFC 7677), without
 * channel binding: three messages, and the proof that the server knows the password, too. Pure: the
 * caller carries the messages and brings the nonce. User and password are used as they are, without
 * SASLprep, as Kafka's brokers store them; what MongoDB makes of a password before SCRAM-SHA-1 is
 * net/mongo/mongologin's.
 *
 *   scram_first -> server's first message -> scram_take -> scram_salt -> scram_final ->
 *   server's last -> scram_verify
 *
 * The number of iterations is the server's choice, and its limit, SCRAM_ITERATIONS_MAX, takes some
 * tens of milliseconds. So they are computed in pieces, when net/sign/salter says, and not again
 * for a salt that is known (struct scram_memory). Kafka allows 4,096 to 16,384, MongoDB's defaults
 * are 15,000, and 10,000 with SHA-1. Fewer than RFC 7677's least are refused, too: with one
 * iteration a server that somebody else runs could search for the password.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/fingerprint.h"

#define SCRAM_ITERATIONS_MIN 4096
#define SCRAM_ITERATIONS_MAX 100000
#define SCRAM_MESSAGE_MAX    4096 /* bytes of a server's message */

#define SCRAM_HASH_MAX 64
enum scram_hash { SCRAM_SHA1, SCRAM_SHA256, SCRAM_SHA512 };

struct scram;

/* Texts are copied. nonce: printable ASCII without commas, never used before. */
struct scram *scram_new(enum scram_hash hash, const char *user, const char *password, const char *nonce);
void scram_free(struct scram *s); /* wipes; NULL is fine */

/*
 * The last salted password of an owner of the password: with it the next login is cheap. A value;
 * zero is nothing. As good as the password at that server, and wiped with it.
 */
struct scram_memory {
	char of[FINGERPRINT_TEXT]; /* password, salt, iterations and hash */
	unsigned char salted[SCRAM_HASH_MAX];
};
void scram_forget(struct scram_memory *m); /* wipes */

/* PostgreSQL's servers may have fewer iterations than SCRAM_ITERATIONS_MIN (scram_iterations). */
void scram_allow_few(struct scram *s);
/* The first message, which the caller frees (mem_free_secret). */
char *scram_first(const struct scram *s);
/* The server's first. 0, or -1 with ERR_DENIED, which quotes nothing of the message. */
int scram_take(struct scram *s, const char *message, size_t len, struct err *err);
/* By up to so many iterations, or from the memory; whether it is done. After scram_take. */
bool scram_salt(struct scram *s, struct scram_memory *memory, unsigned iterations);
/* The last message, once it is done; as scram_first's. NULL with err. */
char *scram_final(struct scram *s, struct err *err);
/* 0: the server has proved that it knows the password. -1 with ERR_DENIED. */
int scram_verify(struct scram *s, const char *message, size_t len, struct err *err);

#endif
