/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_VAULT_VAULTTERMS_H
#define NET_VAULT_VAULTTERMS_H

/* The arguments of vault_read: server, login, and secret. Texts are borrowed. */

struct vault_server {
	const char *address;    /* "https://vault.example:8200", with or without a path */
	const char *namespace_; /* X-Vault-Namespace; NULL */
	/*
	 * the asking Kubernetes namespace, whose turns and shares are used; it does not distinguish
	 * logins or reads; NULL: none
	 */
	const char *asker;
};

struct vault_login { /* exactly one of token and jwt */
	const char *token;
	/*
	 * POST auth/<mount>/login. Each jwt has its own login, even of the same account: only Vault
	 * knows whose it is
	 */
	const char *jwt, *role, *mount;
};

enum vault_engine {
	VAULT_ENGINE_ANY /* 2 if the response has `data` inside its data */,
	VAULT_ENGINE_KV2,
	VAULT_ENGINE_KV1,
	VAULT_ENGINE_PKI
};

struct vault_secret {
	enum vault_engine engine;
	const char *path;
	/* PKI; NULL when absent */
	const char *common_name, *alt_names, *ip_sans, *uri_sans, *other_sans, *ttl, *format;
};

#endif
