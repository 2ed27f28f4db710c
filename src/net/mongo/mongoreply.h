/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MONGO_MONGOREPLY_H
#define NET_MONGO_MONGOREPLY_H

/*
 * What the documents that a server sends mean: whether it did what it was asked to, who it is
 * (hello), a step of a login, a count. Pure. Documents are read by libbson, field by field at known
 * places, so that nothing depends on how deep they are nested.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/mongo/mongowire.h"

/* ---- Done, or why not ---- */

struct mongoreply_status { /* borrows from the document */
	bool ok;
	int32_t code;        /* 0: none */
	const char *name;    /* "Unauthorized"; may be NULL */
	const char *message; /* NULL: none */
};

#define MONGOREPLY_UNKNOWN_COMMAND 59

/* -1 with ERR_INVALID: the document says neither. */
int mongoreply_status(struct mongowire_document document, struct mongoreply_status *out, struct err *err);
/*
 * The server is not, or not any more, who may be asked, or it is a router that does not reach who
 * is: the errors after which MongoDB's drivers read once more.
 */
bool mongoreply_is_elsewhere(const struct mongoreply_status *s);
/*
 * Sets err to the server's own words after `doing`, and returns -1. Words that repeat the secret
 * (may be NULL) are not shown.
 */
int mongoreply_refused(const struct mongoreply_status *s, const char *doing, const char *secret, struct err *err);

/* ---- Who it is ---- */

#define MONGOREPLY_MEMBERS_MAX 50 /* of a replica set, as MongoDB has it */
#define MONGOREPLY_NAME_MAX    300

struct mongoreply_hello { /* a value; owns the texts */
	bool is_router;   /* mongos */
	bool is_primary;  /* or no member of a set */
	bool is_secondary;
	bool is_unready; /* of a set that is not initiated */
	char *set;       /* NULL: no member of a replica set */
	char **members;  /* host:port, as the set has them; the primary first, if it is known */
	size_t count;
	int64_t newest;    /* the newest version of the protocol that it speaks */
	bool sha1, sha256; /* mechanisms that it has for the user; both false: it does not say */
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
 * The number in the first document that the cursor has; none: 0, as the server found nothing to
 * count. ERR_INVALID: there is no cursor, or no such number in it.
 */
int mongoreply_count(struct mongowire_document document, double *out, struct err *err);

#endif
