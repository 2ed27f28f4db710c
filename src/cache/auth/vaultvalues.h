/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_AUTH_VAULTVALUES_H
#define CACHE_AUTH_VAULTVALUES_H

/*
 * What TriggerAuthentications read from Vault, one value per (server, login, secret) however many
 * need it, read again when net/vault says so, or each minute. Owners hear when the value is
 * another, not of each reading; a reading that fails keeps the old value and is tried again. Held
 * as cache/auth/holders says. Values and credentials are wiped when freed and are in no error.
 */

#include "base/err.h"
#include "cache/auth/references.h"
#include "net/loop.h"
#include "net/vault/vault.h"

struct vaultvalues;

struct vaultvalues_source { /* borrowed texts, copied */
	struct vault_server server;
	struct vault_login login; /* jwt NULL with jwt_file: it is read there each time */
	/*
	 * NULL; below the folder jwt_root when that is not NULL, as an object chose it; when
	 * that is NULL a token for jwt_audience and nobody else
	 */
	const char *jwt_file, *jwt_root, *jwt_audience;
	const char *jwt_of; /* whose the jwt is, as the jwt itself is renewed: "shop/worker"; NULL */
	struct vault_secret secret;
};

struct vaultvalues *vaultvalues_new(struct loop *loop, struct vault_pool *pool);
void vaultvalues_free(struct vaultvalues *v);
void vaultvalues_listen(struct vaultvalues *v, object_fn fn, void *arg); /* one */

/*
 * *value is borrowed until the loop turns. Once REFERENCE_FOUND it stays so. A newer jwt of the
 * same service account is taken over for the next reading.
 */
enum reference_state vaultvalues_get(struct vaultvalues *v, struct object *owner,
	const struct vaultvalues_source *source, const char **value, struct err *err);

/*
 * A service account's token as the source's file: regular, at most 1 MiB, a JWT whose subject is a
 * service account, so that nobody who may write a TriggerAuthentication can have other files sent
 * to a server of his; and for the right audience. The caller owns *jwt and wipes it. The message
 * tells of kscaled's machine: it is for the log.
 */
int vaultvalues_read_jwt(const struct vaultvalues_source *source, char **jwt, struct err *err);

#endif
