/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_NET_VAULT_VAULTSERVER_H
#define TESTS_UNIT_NET_VAULT_VAULTSERVER_H

/* A Vault server for tests: answers as configured, counts requests, and can hold responses back. */

#include <stdio.h>

#include "../fixture.h"
#include "base/mem.h"
#include "net/httpd/httpd.h"
#include "net/vault/vault.h"

#define VAULTSERVER_HELD_MAX 8

struct vaultserver {
	struct fixture *f;
	struct tls_server *tls;
	struct httpd *plain, *secure, *active; /* active: another server, which must see nothing */
	struct vault_pool *pool;
	char url[64], secure_url[64], active_url[64];
	const char *namespace_; /* for reads; NULL */
	const char *asker;      /* of reads, as in struct vault_server; NULL */
	/* Behaviour. */
	char token[64]; /* the valid one: "t-1" */
	int64_t ttl_s;  /* of tokens */
	bool renewable, hold, deny_lookup;
	unsigned redirects;    /* number of requests that are redirected to active_url */
	int status;            /* of everything; 0: as usual */
	const char *secret;    /* body of all responses below secret/, with ' for " */
	int64_t certificate_s; /* life of certificates; 0: not in the response */
	/* Counters. */
	int lookups, logins, renewals, reads, issues;
	char last_uri[256], last_namespace[64], last_body[512], last_token[64];
	struct httpd_request *held[VAULTSERVER_HELD_MAX];
	size_t held_count;
};

int vaultserver_setup(void **state);
int vaultserver_teardown(void **state);
void vaultserver_release(struct vaultserver *s); /* answers the held requests and stops holding */

/* Result of a read. */
struct outcome {
	struct vaultserver *s;
	struct vault_call *call;
	int done;
	bool ok;
	char value[4096];
	int64_t good_for_ms;
	struct err err;
	enum vault_engine engine;
	char key[64];
	/* Actions of the callback. */
	bool free_pool;
	struct outcome *cancel, *start;
	int order; /* number of its callback, counted over all */
};

extern const struct vault_login vaultserver_by_token, vaultserver_by_jwt;

void outcome_read(struct outcome *o, struct vaultserver *s, const struct vault_login *login,
	const struct vault_secret *secret, const char *key);
void outcome_secret(struct outcome *o, struct vaultserver *s, const char *path, const char *key); /* by token */

#endif
