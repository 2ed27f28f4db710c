/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_IDENTITY_PARTS_H
#define NET_IDENTITY_IDENTITY_PARTS_H

/* What a kind of identity brings, for net/identity/identity.h. */

#include "net/identity/identity.h"

struct identity_kind {
	const char *name;  /* part of the key */
	const char *label; /* its credential, in messages */
	int64_t early_ms;
	unsigned sent; /* bits of the texts that are secrets and sent to every server that is asked */
	enum exchange_verdict (
		*next)(struct identity_exchange *x, struct webrequest *out, struct credential *got, struct err *err);
	/* NULL: it sends nothing */
	enum exchange_verdict (*read)(struct identity_exchange *x, const struct webresponse *answer,
		struct credential *got, struct err *err);
};

/* An identity's texts, by the kind's own numbers. */
#define IDENTITY_TEXTS 6

struct identity_config {
	const struct identity_kind *kind;
	const char *texts[IDENTITY_TEXTS]; /* copied; NULL and "" are not given */
	struct identity_trust trust;       /* copied */
	struct identity *source;           /* takes the reference; NULL */
	bool own;                          /* kscaled itself; who needs the credential of one that is, is, too */
};

/* All of it is part of the key. Returns one reference. */
struct identity *identity_new(const struct identity_config *config);

const char *identity_text(const struct identity *i, size_t which); /* NULL: not given */
bool identity_is_of(const struct identity *i, const struct identity_kind *kind);

/* ---- For the kinds ---- */

/* What the environment says of this process; NULL when it is not set, or empty. */
const char *identity_env(const struct identity_exchange *x, const char *name);

/*
 * The content of a file that the environment names, without blanks at its ends; the caller owns it
 * (a secret). NULL with an error that names the variable, not the file. One line of text, or
 * (identity_file_text) any.
 */
char *identity_file_text(const struct identity_exchange *x, const char *variable, struct err *err);
char *identity_file(const struct identity_exchange *x, const char *variable, struct err *err);

/* Appends "name=value" to a form; nothing when there is no value. */
void identity_put_field(struct buf *form, const char *name, const char *value);

/* Whether a text can be sent as a token or key: printable, no blanks, not too long. */
bool identity_is_token(const char *text);

/*
 * ERR_TEMPORARY and the like by the status; *err gets the status, and how long the server is to be
 * left alone, if it says so with 429 or 503.
 */
void identity_refused(const struct webresponse *answer, const char *what, const char *code, struct err *err);

#endif
