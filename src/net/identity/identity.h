/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_IDENTITY_H
#define NET_IDENTITY_IDENTITY_H

/*
 * Identities and their exchange for credentials. An identity (an OAuth client, a key, a role) is
 * exchanged for a credential (a bearer token, AWS keys) that is valid for a while. Each kind is a
 * table of pure functions in a file of its own (oauthclient, awskeys, awsown, awsrole, entra,
 * googlekey, googleown, githubapp): they make the next request and read its response.
 * net/web/webtoken runs the exchange and caches one credential per identity; net/web/webauth puts
 * it on requests.
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
const char *identity_key(const struct identity *i); /* equal for equal identities, within this process */
/* The name of its credential in messages: "OAuth token". */
const char *identity_label(const struct identity *i);
/* The identity whose credential its exchange needs; borrowed; NULL: none. */
struct identity *identity_source(const struct identity *i);
/* kscaled's own identity, or a role that kscaled assumes. */
bool identity_is_own(const struct identity *i);
/* Its credential never changes: there is no exchange. */
bool identity_is_fixed(const struct identity *i);
/* Its credential is renewed at the latest this long before it expires. */
int64_t identity_early_ms(const struct identity *i);

/* How the exchange's servers are verified, and our client certificate. Owned by the identity. */
struct identity_trust {
	const char *ca_pem, *cert_pem, *key_pem; /* NULL: none */
	bool insecure;
	struct tlsroots *roots; /* of ca_pem; identity_new takes a reference, or looks it up if NULL */
};
const struct identity_trust *identity_trust(const struct identity *i);

/* Whether words, from a server's answer, contain a secret that the exchange sent (base/echo). */
bool identity_echoes_secret(const struct identity *i, const char *words, const char *answer);

/* ---- Credentials ---- */

/* A value; owns its texts, which are secrets. Empty when zeroed. */
struct credential {
	char *token;                           /* bearer token; NULL */
	char *key_id, *secret, *session_token; /* AWS keys, the last optional; NULL */
	char *project;                         /* Google: the identity's project; not a secret; NULL */
	int64_t life_ms;                       /* from now; 0: unknown or unlimited */
	uint64_t serial;                       /* a new number for each credential; set by net/web/webtoken */
};
void credential_done(struct credential *c);                                 /* wipes */
void credential_copy(struct credential *to, const struct credential *from); /* into an empty one */
/* Whether words, from a server's answer, contain a secret of the credential (base/echo). */
bool credential_echoes_secret(const struct credential *c, const char *words, const char *answer);

/* ---- The exchange ---- */

/* What an exchange may read from this process. */
struct identity_environment {
	void *arg;
	const char *(*env)(void *arg, const char *name); /* NULL or "": not set */
	/* reads a file named by the environment into an empty buffer; anew in each exchange */
	int (*file)(void *arg, const char *path, struct buf *out, struct err *err);
	bool metadata; /* the cloud's metadata server may be asked */
};

/*
 * One exchange in progress. The kind owns stage, saved and memory. Zeroed but for the first three.
 */
struct identity_exchange {
	const struct identity *identity;
	const struct identity_environment *environment;
	int64_t unix_ms; /* now; set before each call */
	unsigned stage;  /* 0 at first */
	char *saved;     /* owned, wiped: kept from step to step; NULL at first */
	/* kept from one exchange to the next */
	unsigned memory;
	const struct credential *source; /* of identity_source; NULL: not asked for yet */
};
void identity_exchange_done(struct identity_exchange *x);

/* Requests per exchange. */
#define IDENTITY_STEPS_MAX 8

/*
 * EXCHANGE_WAIT: call again with source set. EXCHANGE_DONE: *got is the credential. If err has a
 * retry_after_ms, no other exchange starts before that time has passed.
 */
enum exchange_verdict identity_next(struct identity_exchange *x, struct webrequest *out, struct credential *got,
	struct err *err);
enum exchange_verdict identity_read(struct identity_exchange *x, const struct webresponse *answer,
	struct credential *got, struct err *err);

#endif
