/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_AUTH_SECRETVALUES_H
#define CACHE_AUTH_SECRETVALUES_H

/*
 * The secrets that TriggerAuthentications read from secret managers, Vault among them: one per
 * source (server, login, name), shared by all its members and owners. Read again when its kind says
 * so; owners are notified when the secret changes, not at each read. If a read fails, the old
 * secret stays and the read is retried. Namespaces have shares of what is kept. Held as in
 * cache/auth/holders. Secrets are wiped when freed and never in an error.
 *
 * A kind (cache/auth/managervalues, cache/auth/vaultvalues) says what a source is and reads it.
 */

#include <jansson.h>

#include "base/shares.h"
#include "base/strmap.h"
#include "cache/auth/fetched.h"
#include "cache/auth/references.h"

struct secretvalues_kind;

struct secretvalues { /* the keeper of one kind's; a member of its module */
	struct loop *loop;
	const struct secretvalues_kind *kind;
	struct holders holders;
	struct shares shares; /* bytes of secrets, by namespace */
};

struct secretvalue {            /* first member of the kind's */
	struct fetched fetched; /* its text is the whole secret */
	struct secretvalues *owner;
	struct strmap members; /* the requested members of the text, secret */
	json_t *parsed;        /* the text as JSON, owned until the end of the turn; NULL: not parsed, or no JSON */
	bool is_parsed;
	struct loop_task forget; /* frees parsed */
	struct shares_hold share;
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
	/* Two more texts that identify it; at first NULL. */
	void (*also)(const void *source, const char *also[2]);
	/* Reads it, if no read is in progress; ends in secretvalue_take or secretvalue_failed. */
	void (*read)(struct secretvalue *v);
	void (*done)(struct secretvalue *v); /* cancels a read and frees what is the kind's own */
	/*
	 * One member of the secret as JSON (NULL: it is not JSON), as a text that the caller owns
	 * and wipes.
	 */
	int (*member)(const struct secretvalue *v, const json_t *whole, const char *member, char **out,
		struct err *err);
	void (*unread)(const void *source, struct err *err);        /* the error before the first read */
	void (*wrap)(const struct secretvalue *v, struct err *err); /* puts the server before it */
};

void secretvalues_init(struct secretvalues *s, struct loop *loop, const struct secretvalues_kind *kind);

/*
 * The secret's member (NULL: all of it); *value is borrowed until the end of the turn. Once
 * REFERENCE_FOUND a secret stays so. *v: the secret.
 */
enum reference_state secretvalues_get(struct secretvalues *s, struct object *owner, const void *source,
	const char *member, struct secretvalue **v, const char **value, struct err *err);

/* ---- For the kinds ---- */

void secretvalue_take(struct secretvalue *v, const char *text, int64_t again_in_ms);
/* Retried with back-off, or after err's retry_after_ms, ten minutes at most. */
void secretvalue_failed(struct secretvalue *v, const struct err *err);

#endif
