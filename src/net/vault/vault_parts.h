/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_VAULT_VAULT_PARTS_H
#define NET_VAULT_VAULT_PARTS_H

/*
 * Shared by the sources of net/vault only: vault.c has the pool and its logins, vault_call.c the
 * end of calls, vaultread.c the reads, which are shared and cached.
 *
 * A call belongs to a read, or to the pool's list of calls that need none. Callbacks may do
 * anything, even free the pool, which ends when the last of them has returned (depth).
 */

#include <jansson.h>

#include "base/fingerprint.h"
#include "base/hash.h"
#include "base/shares.h"
#include "net/vault/vault.h"
#include "net/vault/vaultlogin.h"

struct vault_entry {
	char key[FINGERPRINT_TEXT];
	struct vaultlogin *login;
	size_t reads; /* reads that use it */
	char *asker;  /* owned; the namespace whose share it uses: the first that asked */
	struct shares_hold share;
	UT_hash_handle hh;
};

enum vaultread_state { READ_LOGIN, READ_ASKING, READ_CHECKING, READ_DONE, READ_CACHED };

/*
 * One path read with one login: all calls for keys of it share the response. A response that is
 * valid for a while (a lease, a certificate) is cached for that time, as it cannot be read a second
 * time.
 */
struct vaultread {
	struct vault_pool *pool;
	char key[FINGERPRINT_TEXT]; /* "": no longer in the table */
	struct vault_entry *entry;
	enum vaultread_state state;
	char *path;       /* encoded */
	char *shown_path; /* as the user wrote it */
	char *body;       /* of PKI; NULL: a GET request */
	char *asker;      /* the namespace that asked first */
	struct vaultlogin_waiter waiter;
	struct exchange exchange;
	uint64_t generation; /* of the token that it was read with */
	struct err *refusal; /* owned; reported if the token turns out to be valid; NULL */
	struct vault_call *calls;
	json_t *answer; /* the response: when it is read, and while cached */
	size_t size;
	/* while cached: */
	struct shares_hold share;
	int64_t until_ms;
	bool leased;
	UT_hash_handle hh;
};

struct vault_call {
	struct vault_pool *pool;
	struct vaultread *read; /* NULL: in the pool's list of calls that need no read */
	enum vault_engine engine;
	char *key;
	vault_fn fn;
	void *arg;
	struct loop_timer deadline;
	struct loop_task task; /* ends a call without a read */
	struct err *err;
	char *value;
	int64_t until_ms;
	struct vault_call *prev, *next;
};

struct vault_pool {
	struct loop *loop;
	struct webclient *client;
	char *ca_file;
	bool skip_verify;
	struct vault_entry *logins;
	struct vaultread *reads;
	struct shares login_shares; /* logins, by namespace */
	struct shares cache_shares; /* bytes of cached responses, by namespace */
	struct vault_call *ready;   /* calls without a read */
	struct loop_timer sweep;
	unsigned depth; /* callbacks on the stack */
	bool freed;     /* ends with `end` as soon as depth is 0 */
	void (*end)(struct vault_pool *p);
};

/* Ends a call. The pool may be gone afterwards, unless the caller has incremented depth. */
void vault_finish(struct vault_call *c, const char *value, int64_t good_for_ms, const struct err *err);
void vault_leave(struct vault_pool *p);       /* the counterpart of depth++; may free the pool */
void vault_call_detach(struct vault_call *c); /* removes it from its read */
void vault_call_free(struct vault_call *c);
int64_t vault_time_left(const struct vault_pool *p, int64_t until_ms); /* 0 if until_ms is 0, else at least 1 */

/*
 * The read of this path with this login: in progress, cached, or a new one, which is started. NULL
 * and *err when the path is invalid.
 */
struct vaultread *vaultread_find(struct vault_pool *p, struct vault_entry *entry, const struct vault_secret *secret,
	const char *asker, struct err *err);
void vaultread_init_shares(struct vault_pool *p);
bool vaultread_is_cached(const struct vaultread *r); /* it has a valid cached response */
/* For a read that is not cached; starts it again if needed. */
void vaultread_join(struct vaultread *r, struct vault_call *c);
/* The value of the call's key, for mem_free_secret; NULL with err. */
char *vaultread_value(const json_t *answer, const struct vault_call *c, const char *shown_path, struct err *err);
void vaultread_drop_if_unwanted(struct vaultread *r);
void vaultread_free(struct vaultread *r);   /* and its calls, which get no callback */
void vaultread_sweep(struct vault_pool *p); /* drops expired responses */

#endif
