/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MONGO_MONGOCOMMAND_H
#define NET_MONGO_MONGOCOMMAND_H

/*
 * Commands to send, as whole messages, made by libbson. Pure. None contains a password: a login
 * sends proofs of it.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "net/mongo/mongofilter.h"

/*
 * The first message. old: use the command's name before 4.4.2. user: "database.name", whose
 * mechanisms are asked for; may be NULL. app_name: may be NULL.
 */
void mongocommand_hello(struct buf *out, int32_t number, bool old, const char *user, const char *app_name);

/* A login against the database `source`. message: from SCRAM. */
void mongocommand_sasl_start(struct buf *out, int32_t number, const char *source, const char *mechanism,
	const char *message);
void mongocommand_sasl_continue(struct buf *out, int32_t number, const char *source, int32_t conversation,
	const char *message);
/* A login by the TLS client certificate. user: NULL means the certificate's subject. */
void mongocommand_x509(struct buf *out, int32_t number, const char *user);

struct mongocommand_count { /* borrowed */
	const char *database, *collection;
	const struct mongofilter *filter;
	const char *read_concern;    /* level; NULL: the server's default */
	const char *read_preference; /* mode; NULL: the primary */
	int64_t limit_ms;            /* the server's time limit */
};
/* Counts the matching documents, as the drivers' CountDocuments does. */
void mongocommand_count(struct buf *out, int32_t number, const struct mongocommand_count *count);

#endif
