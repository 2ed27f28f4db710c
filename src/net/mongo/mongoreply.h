/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MONGO_MONGOREPLY_H
#define NET_MONGO_MONGOREPLY_H

/*
 * Interprets the documents that a server sends: success or error, its role (hello), a step of a
 * login, a count. Pure. libbson reads them field by field at known places, so their nesting does
 * not matter.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/mongo/mongowire.h"

/* ---- Success or error ---- */

struct mongoreply_status { /* borrows from the document */
	bool ok;
	int32_t code;        /* 0: none */
	const char *name;    /* "Unauthorized"; may be NULL */
	const char *message; /* NULL: none */
};

#define MONGOREPLY_UNKNOWN_COMMAND 59

/* -1 with ERR_INVALID: the document has no status. */
int mongoreply_status(struct mongowire_document document, struct mongoreply_status *out, struct err *err);
/*
 * The server is not, or no longer, one to ask, or it is a router that cannot reach one: the errors
 * after which MongoDB's drivers retry a read.
 */
bool mongoreply_is_elsewhere(const struct mongoreply_status *s);
/*
 * Sets err to the server's text, prefixed by `doing`, and returns -1. Text that repeats the secret
 * (may be NULL) is not shown.
 */
int mongoreply_refused(const struct mongoreply_status *s, const char *doing, const char *secret, struct err *err);

/* ---- The server's role ---- */

#define MONGOREPLY_MEMBERS_MAX 50 /* MongoDB's limit for a replica set */
#define MONGOREPLY_NAME_MAX    300

struct mongoreply_hello { /* a value; owns its texts */
	bool is_router;   /* mongos */
	bool is_primary;  /* or a standalone server */
	bool is_secondary;
	bool is_unready; /* in a set that is not initiated */
	char *set;       /* NULL: not in a replica set */
	char **members;  /* host:port, as in the set's configuration; the primary first, if known */
	size_t count;
	int64_t newest;    /* highest wire version */
	bool sha1, sha256; /* mechanisms for the user; both false: unknown */
};

void mongoreply_hello(struct mongowire_document document, struct mongoreply_hello *out);
void mongoreply_hello_done(struct mongoreply_hello *h);

/* ---- A login ---- */

struct mongoreply_sasl { /* borrows */
	int32_t conversation;
	bool done;
	const char *message;
	size_t len;
};
int mongoreply_sasl(struct mongowire_document document, struct mongoreply_sasl *out, struct err *err);

/* ---- A count ---- */

/*
 * The number in the cursor's first document; 0 without a document, as nothing matched. ERR_INVALID:
 * no cursor, or no such number.
 */
int mongoreply_count(struct mongowire_document document, double *out, struct err *err);

#endif
