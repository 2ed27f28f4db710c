/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_AUTH_SECRETVALUES_H
#define CACHE_AUTH_SECRETVALUES_H

/*
 * The secrets that TriggerAuthentications read from secret managers, Vault among them: one per
 * source (server, login, name), shared by all its members and owners. Read again when its kind
 * wants that, and sooner after the owner's source has refused a value, as after a rotation. Owners
 * are notified when a member that one of them has changes, not at each read. If a read fails, the
 * old secret stays and the read is retried. Namespaces have shares of what is kept. Held as in
 * cache/auth/holders: released with its last owner. Secrets are wiped when freed and never in an
 * error.
 *
 * A kind (cache/auth/managervalues, cache/auth/vaultvalues) says what a source is and reads it.
 */

#include <jansson.h>

#include "base/shares.h"
#include "base/strmap.h"
#include "cache/auth/fetched.h"
#include "cache/auth/references.h"
#include "net/vault/vault.h"
#include "net/web/webtoken.h"

struct secretvalues;

struct secretvalues_config { /* all borrowed */
	struct loop *loop;
	struct vault_pool *vault;
	struct webclient *web;
	struct webtoken_store *tokens;
	int64_t apart_ms; /* minimum time before a refused secret is read again, as reads are billed */
};

struct secretvalues *secretvalues_new(const struct secretvalues_config *config);
void secretvalues_free(struct secretvalues *s);
void secretvalues_listen(struct secretvalues *s, object_fn fn, void *arg); /* one */

/*
 * A source has refused this object: one of its values may have changed, or a lease was revoked.
 * They are read again, at the earliest after a quarter of their time, as a lease is another one
 * each time.
 */
void secretvalues_reread(struct secretvalues *s, const struct object *owner);

/* ---- For the kinds ---- */

#define SECRETVALUES_DEADLINE_MS 10000 /* of a read */

struct secretvalues {
	struct secretvalues_config config;
	struct holders holders;
	struct shares shares; /* bytes of secrets, by namespace */
};

struct secretvalue {            /* first member of the kind's */
	struct fetched fetched; /* its text is the whole secret */
	struct secretvalues *keeper;
	const struct secretvalues_kind *kind;
	struct strmap members; /* the requested members of the text, secret */
	bool any_change;       /* concerns owners: one has the whole text, or lacks a member, or waits */
	json_t *parsed;        /* the text as JSON, owned until the end of the turn; NULL: not parsed, or no JSON */
	bool is_parsed;
	struct loop_task forget; /* frees parsed */
	struct shares_hold share;
	int64_t read_ms, again_ms; /* loop clock: of the last read, of the next */
	bool refused;              /* since then by a source */
};

struct secretvalues_kind {
	const char *log; /* of its log lines: "vault" */
	size_t size;     /* of its struct */
	/* where its struct has the source, whose texts are copied, and wiped */
	size_t source, source_size;
	/*
	 * where the source has its texts: the asking namespace, others that do not identify the
	 * secret either, and those that do
	 */
	const size_t *texts;
	size_t loose_count, text_count;
	const char *(*also)(const void *source); /* one more text that identifies it */
	/* Reads it, if no read is in progress; ends in secretvalue_take or secretvalue_failed. */
	void (*read)(struct secretvalue *v);
	bool (*is_fixed)(const struct secretvalue *v); /* never changes; NULL: none is */
	void (*done)(struct secretvalue *v);           /* cancels a read and frees what is the kind's own */
	/*
	 * One member of the secret as JSON (NULL: it is not JSON), as a text that the caller owns
	 * and wipes.
	 */
	int (*member)(const struct secretvalue *v, const json_t *whole, const char *member, char **out,
		struct err *err);
	void (*unread)(const void *source, struct err *err);        /* the error before the first read */
	void (*wrap)(const struct secretvalue *v, struct err *err); /* puts the server before it */
};

/*
 * The secret's member (NULL: all of it); *value is borrowed until the end of the turn. Once
 * REFERENCE_FOUND a secret stays so, but a member that it has lost is REFERENCE_MISSING. *found:
 * the secret.
 */
enum reference_state secretvalues_get(struct secretvalues *s, const struct secretvalues_kind *kind,
	struct object *owner, const void *source, const char *member, struct secretvalue **found, const char **value,
	struct err *err);

/*
 * good_for_ms: it is read again after that time, at least a second and at most a day; 0: unknown, a
 * minute. Fails beyond the namespace's share.
 */
void secretvalue_take(struct secretvalue *v, const char *text, int64_t good_for_ms);
/* Retried with back-off, or after err's retry_after_ms, ten minutes at most. */
void secretvalue_failed(struct secretvalue *v, const struct err *err);

#endif
