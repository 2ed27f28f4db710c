/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_VAULT_VAULT_H
#define NET_VAULT_VAULT_H

/*
 * A client for the HTTP API of HashiCorp Vault (and OpenBao), as far as TriggerAuthentications use
 * it (doc/keda.md 6.3): login with a token or a Kubernetes JWT, reading secrets of key-value
 * engines 1 and 2, issuing certificates. There is one login per server and credentials, shared by
 * all reads and renewed while in use. Knows no Kubernetes objects. Tokens are wiped when freed, and
 * never appear in errors.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/vault/vaultterms.h"

struct vault_pool;
struct vault_call;

/*
 * answer (borrowed for the call), whose values vaultreply_value reads, or err, never both.
 * good_for_ms: when to read it again (two thirds of a lease, or of a certificate's life; not
 * earlier, as that gives another lease or certificate); 0: unknown. ERR_MISSING: no such path;
 * ERR_DENIED: login or policy; ERR_INVALID: bad address, path, token or CA file; ERR_TEMPORARY:
 * everything else.
 */
typedef void (*vault_fn)(void *arg, const json_t *answer, int64_t good_for_ms, const struct err *err);

/*
 * ca_file: VAULT_CACERT, read at each login; NULL: the system's roots. skip_verify:
 * VAULT_SKIP_VERIFY.
 */
struct vault_pool *vault_pool_new(struct loop *loop, const char *ca_file, bool skip_verify);
/* Calls in progress end without callbacks; may be called from inside one; NULL is fine. */
void vault_pool_free(struct vault_pool *p);

/*
 * Texts are copied. deadline_ms: loop clock. Called back exactly once, never before this returns,
 * never after vault_cancel.
 */
struct vault_call *vault_read(struct vault_pool *p, const struct vault_server *server, const struct vault_login *login,
	const struct vault_secret *secret, int64_t deadline_ms, vault_fn fn, void *arg);
void vault_cancel(struct vault_call *c); /* NULL is fine */

#endif
