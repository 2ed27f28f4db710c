/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_AUTH_VAULTVALUES_H
#define CACHE_AUTH_VAULTVALUES_H

/*
 * The secrets that TriggerAuthentications read from Vault, a kind of cache/auth/secretvalues: one
 * per (server, login, path), whose keys come from one read, as a certificate and its private key
 * do; read again when net/vault allows it, or each minute.
 */

#include "cache/auth/secretvalues.h"

struct vaultvalues_source { /* texts are copied */
	struct vault_server server;
	struct vault_login login; /* jwt NULL with jwt_file: the file is read each time */
	/*
	 * NULL, or the JWT's file: below jwt_root if an object chose the path; if jwt_root is NULL
	 * kscaled's own, which must have exactly the audience jwt_audience
	 */
	const char *jwt_file, *jwt_root, *jwt_audience;
	const char *jwt_of; /* the jwt's ServiceAccount, "shop/worker", as the jwt itself is renewed; NULL */
	struct vault_secret secret;
	const char *key; /* of the value in the secret */
};

/* As secretvalues_get. A newer jwt of the same service account is used for the next read. */
enum reference_state vaultvalues_get(struct secretvalues *s, struct object *owner,
	const struct vaultvalues_source *source, const char **value, struct err *err);

/*
 * Reads a service account token from the source's file: regular, at most 1 MiB, a JWT with the
 * right audience whose subject is a service account, so that authors of TriggerAuthentications
 * cannot have other files sent to their servers. The caller owns *jwt and wipes it. The error has
 * details of kscaled's machine and is for the log only.
 */
int vaultvalues_read_jwt(const struct vaultvalues_source *source, char **jwt, struct err *err);

#endif
