/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_SIGN_SCRAM_H
#define NET_SIGN_SCRAM_H

/*
 * The client's side of SCRAM-SHA-1, SCRAM-SHA-256 and SCRAM-SHA-512 (RFC 5802, RFC 7677), without
 * channel binding: three messages, and the proof that the server knows the password, too. Pure: the
 * caller sends the messages and makes the nonce. User and password are used without SASLprep, as
 * Kafka's brokers store them; net/mongo/mongologin prepares MongoDB's password for SCRAM-SHA-1.
 *
 *   scram_first -> server's first message -> scram_take -> scram_salt -> scram_final ->
 *   server's last -> scram_verify
 *
 * The server chooses the number of iterations; SCRAM_ITERATIONS_MAX takes some tens of
 * milliseconds. So net/sign/salter runs them in pieces, and a known salt is not computed again
 * (struct scram_memory). Kafka allows 4,096 to 16,384; MongoDB's default is 15,000, and 10,000 with
 * SHA-1. Fewer than RFC 7677's minimum are refused: with one iteration a malicious server could
 * search for the password.
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
 * A cached salted password: with it the next login is cheap. A value; empty when zeroed. At that
 * server it is as good as the password, so it is wiped with it.
 */
struct scram_memory {
	char of[FINGERPRINT_TEXT]; /* fingerprint of password, salt, iterations and hash */
	unsigned char salted[SCRAM_HASH_MAX];
};
void scram_forget(struct scram_memory *m); /* wipes */

/* Allows fewer than SCRAM_ITERATIONS_MIN: PostgreSQL's scram_iterations may be lower. */
void scram_allow_few(struct scram *s);
/* The first message, which the caller frees (mem_free_secret). */
char *scram_first(const struct scram *s);
/* Reads the server's first message. 0, or -1 with ERR_DENIED, which quotes nothing of it. */
int scram_take(struct scram *s, const char *message, size_t len, struct err *err);
/* After scram_take: runs up to that many iterations, or takes the memory's result. True: done. */
bool scram_salt(struct scram *s, struct scram_memory *memory, unsigned iterations);
/* The last message, once salted; the caller frees it (mem_free_secret). NULL with err. */
char *scram_final(struct scram *s, struct err *err);
/* 0: the server has proved that it knows the password. -1 with ERR_DENIED. */
int scram_verify(struct scram *s, const char *message, size_t len, struct err *err);

#endif
