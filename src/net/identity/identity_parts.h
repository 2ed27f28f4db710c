/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_IDENTITY_PARTS_H
#define NET_IDENTITY_IDENTITY_PARTS_H

/* For the kinds of identities (net/identity/identity.h). */

#include "net/identity/identity.h"

struct identity_kind {
	const char *name;  /* part of the key */
	const char *label; /* the credential's name in messages */
	int64_t early_ms;
	unsigned sent; /* bits of the texts that are secrets and sent to every server of the exchange */
	enum exchange_verdict (
		*next)(struct identity_exchange *x, struct webrequest *out, struct credential *got, struct err *err);
	/* NULL: no exchange */
	enum exchange_verdict (*read)(struct identity_exchange *x, const struct webresponse *answer,
		struct credential *got, struct err *err);
};

/* An identity's texts; each kind numbers its own. */
#define IDENTITY_TEXTS 6

struct identity_config {
	const struct identity_kind *kind;
	const char *texts[IDENTITY_TEXTS]; /* copied; NULL and "": not given */
	struct identity_trust trust;       /* copied */
	struct identity *source;           /* takes the reference; NULL */
	bool own;                          /* kscaled's own; inherited from source */
};

/* Everything in config becomes part of the key. Returns one reference. */
struct identity *identity_new(const struct identity_config *config);

const char *identity_text(const struct identity *i, size_t which); /* NULL: not given */
bool identity_is_of(const struct identity *i, const struct identity_kind *kind);

/* ---- For the kinds ---- */

/* The variable's value; NULL when it is unset or empty. */
const char *identity_env(const struct identity_exchange *x, const char *name);

/*
 * The content of the file that the variable names, trimmed; the caller owns it (a secret). NULL
 * with an error that names the variable, not the file. identity_file: a token, one line without
 * blanks.
 */
char *identity_file_text(const struct identity_exchange *x, const char *variable, struct err *err);
char *identity_file(const struct identity_exchange *x, const char *variable, struct err *err);

/*
 * Makes the request a POST of a form to url, with the fields that have a value. The last has no
 * name; its value, if any, is appended as written.
 */
struct identity_field {
	const char *name, *value;
};
void identity_post_form(struct webrequest *out, const char *url, const struct identity_field *fields);

/* Whether text is valid as a token or key: printable, no blanks, at most 64 KiB. */
bool identity_is_token(const char *text);

/*
 * The error of a response that is not 2xx: "what: HTTP status N, code", with its status, and with
 * Retry-After of 429 and 503.
 */
void identity_refused(const struct webresponse *answer, const char *what, const char *code, struct err *err);

#endif
