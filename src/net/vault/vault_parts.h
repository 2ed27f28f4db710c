/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_VAULT_VAULT_PARTS_H
#define NET_VAULT_VAULT_PARTS_H

/*
 * What the two halves of net/vault share, each in its own file: vault.c has the pool, its calls and
 * its logins; vaultread.c has what is read, shared and kept. Nobody else includes this.
 *
 * A call is either on a read or on its pool's list of those that are told without one. Callbacks
 * may do anything, even free the pool: it goes when the last of them has returned (depth).
 */

#include <jansson.h>

#include "base/fingerprint.h"
#include "base/hash.h"
#include "net/vault/vault.h"
#include "net/vault/vaultlogin.h"

struct vault_entry {
	char key[FINGERPRINT_TEXT];
	struct vaultlogin *login;
	size_t reads; /* that use it */
	UT_hash_handle hh;
};

enum vaultread_state { READ_LOGIN, READ_ASKING, READ_DOUBTING, READ_TOLD, READ_KEPT };

/*
 * What is read from one path with one login: whoever wants a key of it while it is under way waits
 * for the one answer. An answer that is good for a while (a lease, a certificate) is kept so long,
 * for it exists only once.
 */
struct vaultread {
	struct vault_pool *pool;
	char key[FINGERPRINT_TEXT]; /* "": not in the table any more */
	struct vault_entry *entry;
	enum vaultread_state state;
	char *path;       /* encoded */
	char *shown_path; /* as the user wrote it */
	char *body;       /* of PKI; NULL: a GET */
	struct vaultlogin_waiter waiter;
	struct vaultrequest *request;
	uint64_t round;      /* of the token that the answer was had with */
	struct err *refusal; /* owned; once the token was refused: what is told when it was not the token's fault */
	struct vault_call *calls;
	/* while kept: */
	json_t *answer;
	size_t size;
	int64_t until_ms;
	bool leased;
	UT_hash_handle hh;
};

struct vault_call {
	struct vault_pool *pool;
	struct vaultread *read; /* NULL: on its pool's list of those that are told without waiting */
	enum vault_engine engine;
	char *key;
	vault_fn fn;
	void *arg;
	struct loop_timer deadline;
	struct loop_task task; /* tells one of these */
	struct err *err;
	char *value;
	int64_t until_ms;
	struct vault_call *prev, *next;
};

struct vault_pool {
	struct loop *loop;
	struct vaultrequest_sender sender;
	char *ca_file;
	bool skip_verify;
	struct vault_entry *logins;
	struct vaultread *reads;
	size_t kept;
	size_t kept_bytes;
	struct vault_call *ready; /* calls without a read */
	struct loop_timer sweep;
	unsigned depth; /* callbacks on the stack */
	bool freed;     /* as soon as depth is 0: */
	void (*end)(struct vault_pool *p);
};

/*
 * the end of a call. The pool may be gone afterwards, unless the caller has counted itself in depth
 */
void vault_tell(struct vault_call *c, const char *value, int64_t good_for_ms, const struct err *err);
void vault_leave(struct vault_pool *p);       /* the counterpart of depth++: may free the pool */
void vault_call_detach(struct vault_call *c); /* it waits for no read any more */
void vault_call_free(struct vault_call *c);
int64_t vault_time_left(const struct vault_pool *p, int64_t until_ms); /* 0 for 0, else at least 1 */

/*
 * The read of that path with that login: one that is under way or kept, else one that has just been
 * started. NULL and *err when the path cannot be used.
 */
struct vaultread *vaultread_find(struct vault_pool *p, struct vault_entry *entry, const struct vault_secret *secret,
	struct err *err);
bool vaultread_is_kept(const struct vaultread *r);              /* its answer can be used */
void vaultread_join(struct vaultread *r, struct vault_call *c); /* for one that is not: starts it anew if need be */
/* mem_free_secret */
char *vaultread_value(const json_t *answer, const struct vault_call *c, const char *shown_path, struct err *err);
void vaultread_drop_if_unwanted(struct vaultread *r);
void vaultread_free(struct vaultread *r);   /* and the calls on it, without callbacks */
void vaultread_sweep(struct vault_pool *p); /* what is kept longer than it is good */

#endif
