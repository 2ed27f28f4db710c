/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_IDENTITY_H
#define NET_IDENTITY_IDENTITY_H

/*
 * Who we are to an authorization server or a cloud, and what is exchanged for it: an identity (an
 * OAuth client, a key, a role) becomes a credential (a bearer token, AWS keys) that is good for a
 * while. Each kind is a table of pure functions in a file of its own (oauthclient, awskeys, awsown,
 * awsrole, entra, googlekey, googleown, githubapp): which request is next, and what its response
 * means. net/web/webtoken runs the exchange and keeps the credentials, one for all who are the same
 * identity; net/web/webauth has them put on requests.
 *
 * An identity is immutable and counted, and wiped with the last reference. Its key holds no secret.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "net/http/webrequest.h"

struct identity;

struct identity *identity_ref(struct identity *i);  /* NULL gives NULL */
void identity_unref(struct identity *i);            /* NULL is fine */
const char *identity_key(const struct identity *i); /* equal for equal ones, within this process */
/* What its credential is called in messages: "OAuth token". */
const char *identity_label(const struct identity *i);
/* Whose credential it needs for its exchange; borrowed; NULL: nobody's. */
struct identity *identity_source(const struct identity *i);
/* It is kscaled itself, or a role that kscaled assumes. */
bool identity_is_own(const struct identity *i);
/* Its credential is always the same: nothing is exchanged. */
bool identity_is_fixed(const struct identity *i);
/* Its credential is renewed at latest so long before its end. */
int64_t identity_early_ms(const struct identity *i);

/* How the servers of its exchange are trusted, and our client certificate. The identity owns it. */
struct identity_trust {
	const char *ca_pem, *cert_pem, *key_pem; /* NULL: none */
	bool insecure;
	struct tlsroots *roots; /* ca_pem's; identity_new takes a reference, or looks it up */
};
const struct identity_trust *identity_trust(const struct identity *i);

/* Whether words from a server that was asked as it show a secret of its own (base/echo). */
bool identity_echoes_secret(const struct identity *i, const char *words, const char *answer);

/* ---- What comes out ---- */

/* A value; owns its texts, which are secrets. Empty when zeroed. */
struct credential {
	char *token;                           /* of a bearer; NULL */
	char *key_id, *secret, *session_token; /* of AWS: two or three; NULL */
	char *project;                         /* of Google: where its holder is at home; no secret; NULL */
	int64_t life_ms;                       /* from now; 0: unknown, or without end */
	uint64_t serial;                       /* tells it from those before; of net/web/webtoken */
};
void credential_done(struct credential *c);                                 /* wipes */
void credential_copy(struct credential *to, const struct credential *from); /* into an empty one */
/* Whether words from a server show a secret that was sent to it (base/echo). */
bool credential_echoes_secret(const struct credential *c, const char *words, const char *answer);

/* ---- The exchange ---- */

/* What an exchange may read of this process. */
struct identity_environment {
	void *arg;
	const char *(*env)(void *arg, const char *name); /* NULL or "": not set */
	/* a file that the environment names, into an empty buffer; read anew at each exchange */
	int (*file)(void *arg, const char *path, struct buf *out, struct err *err);
	bool metadata; /* the machine's metadata server may be asked */
};

/* One exchange under way. Zeroed but for the first three. */
struct identity_exchange {
	const struct identity *identity;
	const struct identity_environment *environment;
	int64_t unix_ms; /* now; set before each call */
	unsigned stage;  /* of the kind: where it is; 0 at first */
	char *note;      /* of the kind, owned, wiped: what it keeps from step to step */
	/* of the kind: what it keeps from one exchange to the next */
	unsigned memory;
	const struct credential *source; /* that of identity_source; NULL: not asked for yet */
};
void identity_exchange_done(struct identity_exchange *x);

/* At most so many requests in one exchange. */
#define IDENTITY_STEPS_MAX 8

/*
 * EXCHANGE_WAIT: to be called again with a source. EXCHANGE_DONE: *got is the credential. After a
 * failure with a retry_after_ms nobody begins another exchange before that is over.
 */
enum exchange_verdict identity_next(struct identity_exchange *x, struct webrequest *out, struct credential *got,
	struct err *err);
enum exchange_verdict identity_read(struct identity_exchange *x, const struct webresponse *answer,
	struct credential *got, struct err *err);

#endif
