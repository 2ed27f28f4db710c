/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_VAULT_VAULT_H
#define NET_VAULT_VAULT_H

/*
 * A client of HashiCorp Vault's (OpenBao's) HTTP API, as far as TriggerAuthentications use it
 * (keda-core.md 6.3): login by token or by a Kubernetes JWT, reading a secret of the key-value
 * engines 1 and 2, issuing a certificate. One login per distinct server and credentials, renewed
 * while it is used, shared by all who read. Knows no Kubernetes objects. Tokens and values are
 * wiped when freed, and are never in an error.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/vault/vaultterms.h"

struct vault_pool;
struct vault_call;

/*
 * value (borrowed for the call) or err, never both. good_for_ms: when it should be read again (two
 * thirds of a lease, or of a certificate's life; until then every reader gets the same answer); 0:
 * the server did not say. The value may be "". ERR_MISSING: no such path or key; ERR_DENIED: login
 * or policy; ERR_INVALID: the address, the path, the token or the file of authorities cannot be
 * used, or the value is neither a text nor a whole number or boolean; ERR_TEMPORARY: the rest.
 */
typedef void (*vault_fn)(void *arg, const char *value, int64_t good_for_ms, const struct err *err);

/* ca_file: VAULT_CACERT, read at each login; NULL: the system's. skip_verify: VAULT_SKIP_VERIFY. */
struct vault_pool *vault_pool_new(struct loop *loop, const char *ca_file, bool skip_verify);
/* calls under way end without callbacks; safe from inside them; NULL is fine */
void vault_pool_free(struct vault_pool *p);

/*
 * All texts are copied. deadline_ms: loop clock. Never calls back before it returns; exactly once;
 * not after vault_cancel.
 */
struct vault_call *vault_read(struct vault_pool *p, const struct vault_server *server, const struct vault_login *login,
	const struct vault_secret *secret, int64_t deadline_ms, vault_fn fn, void *arg);
void vault_cancel(struct vault_call *c); /* NULL is fine */

#endif
