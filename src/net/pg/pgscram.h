/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PGSCRAM_H
#define NET_PG_PGSCRAM_H

/*
 * A login by SCRAM-SHA-256 in libpq's place, which would compute all iterations in one call: here
 * net/sign/salter does it, in slices and in turns by namespace. For net/pg/pgpump, which carries
 * the messages. libpq prepares passwords that are not ASCII (SASLprep), so these stay with it
 * (pgscram_may_use).
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "net/sign/salter.h"

enum { PGSCRAM_BEGIN = 10, PGSCRAM_CONTINUE = 11, PGSCRAM_FINAL = 12 }; /* what a server says */

struct pgscram_config {
	struct salter *salter;
	const char *password;        /* copied */
	struct scram_memory *memory; /* borrowed */
	const char *namespace_;      /* borrowed */
};

struct pgscram_handler {
	void (*say)(void *arg, const unsigned char *bytes, size_t len); /* to the server: a whole message */
	/* From the loop: it cannot go on. May free it. */
	void (*failed)(void *arg, const struct err *why);
};

struct pgscram;

bool pgscram_may_use(const char *password); /* NULL, and "", for none */
struct pgscram *pgscram_new(const struct pgscram_config *config, const struct pgscram_handler *handler, void *arg);
void pgscram_free(struct pgscram *s); /* wipes; NULL is fine */
/* A message of the server, without its head and code. -1 with err: the login is over. */
int pgscram_take(struct pgscram *s, unsigned code, const char *data, size_t len, struct err *err);

#endif
