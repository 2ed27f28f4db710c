/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PGSCRAM_H
#define NET_PG_PGSCRAM_H

/*
 * Does a SCRAM-SHA-256 login instead of libpq, which would compute all iterations in one call: here
 * net/sign/salter computes them in slices, in turns by namespace. For net/pg/pgpump, which moves
 * the messages. Passwords with non-ASCII characters are left to libpq, which applies SASLprep
 * (pgscram_may_use).
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "net/sign/salter.h"

enum { PGSCRAM_BEGIN = 10, PGSCRAM_CONTINUE = 11, PGSCRAM_FINAL = 12 }; /* codes of server messages */

struct pgscram_config {
	struct salter *salter;
	const char *password;        /* copied */
	struct scram_memory *memory; /* borrowed */
	const char *namespace_;      /* borrowed */
};

struct pgscram_handler {
	void (*say)(void *arg, const unsigned char *bytes, size_t len); /* to the server: a whole message */
	/* From the loop: the login has failed. May free it. */
	void (*failed)(void *arg, const struct err *why);
};

struct pgscram;

bool pgscram_may_use(const char *password); /* NULL or "": none */
struct pgscram *pgscram_new(const struct pgscram_config *config, const struct pgscram_handler *handler, void *arg);
void pgscram_free(struct pgscram *s); /* wipes; NULL is fine */
/* Takes a message of the server, without its head and code. -1 with err: the login has failed. */
int pgscram_take(struct pgscram *s, unsigned code, const char *data, size_t len, struct err *err);

#endif
