/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MONGO_MONGOCOMMAND_H
#define NET_MONGO_MONGOCOMMAND_H

/*
 * What we send: commands, as whole messages, made by libbson. Pure. None holds a password: a login
 * sends proofs of it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "net/mongo/mongofilter.h"

/*
 * The first message. old: by the name that servers before 4.4.2 know. user: "database.name", whose
 * mechanisms are asked for; NULL: none are. app_name: NULL for none.
 */
void mongocommand_hello(struct buf *out, int32_t number, bool old, const char *user, const char *app_name);

/* A login at the database `source`. message: of SCRAM. */
void mongocommand_sasl_start(struct buf *out, int32_t number, const char *source, const char *mechanism,
	const char *message);
void mongocommand_sasl_continue(struct buf *out, int32_t number, const char *source, int32_t conversation,
	const char *message);
/* By the certificate of the TLS connection. user: NULL: the certificate's subject. */
void mongocommand_x509(struct buf *out, int32_t number, const char *user);

struct mongocommand_count { /* borrowed */
	const char *database, *collection;
	const struct mongofilter *filter;
	const char *read_concern;    /* level; NULL: the server's default */
	const char *read_preference; /* mode; NULL: the primary */
	int64_t limit_ms;            /* after which the server gives up */
};
/* How many documents match, as drivers ask for it (CountDocuments). */
void mongocommand_count(struct buf *out, int32_t number, const struct mongocommand_count *count);

#endif
