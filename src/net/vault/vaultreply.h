/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_VAULT_VAULTREPLY_H
#define NET_VAULT_VAULTREPLY_H

/*
 * What Vault answers, and the texts of what it is asked: pure functions for net/vault and its
 * parts. Everything that comes from the server is checked here, and nothing of an answer but its
 * list of errors gets into a message: JSON that does not parse is not quoted, for it may be a
 * secret.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/vault/vaultterms.h"

/*
 * The answer's object, owned by the caller; NULL and *err for anything that is no success:
 * ERR_MISSING (404), ERR_DENIED (401, 403), else ERR_TEMPORARY, with http_status and the server's
 * own words, unless these repeat one of `secrets` (NULL-terminated), which were sent.
 */
json_t *vaultreply_parse(int status, const char *body, size_t len, const char *const *secrets, struct err *err);

/* Whether words of a server repeat one of them, in whatever case: such words are not shown. */
bool vaultreply_repeats(const char *words, const char *const *secrets);

/* What is known of a token. */
struct vaultreply_token {
	/*
	 * owned, wiped by vaultreply_token_done; NULL when the answer is about the token that was
	 * sent
	 */
	char *token;
	int64_t ttl_ms; /* 0: does not expire */
	bool renewable;
};
/* of a login: `auth`, with a token */
int vaultreply_login(const json_t *answer, struct vaultreply_token *out, struct err *err);
int vaultreply_renewal(const json_t *answer, struct vaultreply_token *out, struct err *err); /* of renew-self: `auth` */
int vaultreply_lookup(const json_t *answer, struct vaultreply_token *out, struct err *err); /* of lookup-self: `data` */
void vaultreply_token_done(struct vaultreply_token *t);
bool vaultreply_is_token(const char *text); /* visible ASCII, not too long: what may go into a header */

/*
 * The value at key. A text as it is; whole numbers and booleans as JSON writes them (KEDA makes ""
 * of those); of PKI also a list of texts (ca_chain), joined by newlines. ERR_MISSING without that
 * key or without any data (a deleted version), ERR_INVALID for any other type. The caller owns the
 * text: mem_free_secret.
 */
char *vaultreply_value(const json_t *answer, enum vault_engine engine, const char *key, struct err *err);

/*
 * For how long the answer may be used before it should be read again: two thirds of its lease, and
 * of a certificate until its `expiration`; 0 when nothing says. Key-value engine 1 tells a
 * lease_duration without a lease, which means nothing. *leased: the server takes it back when the
 * token ends.
 */
int64_t vaultreply_good_for_ms(const json_t *answer, enum vault_engine engine, int64_t now_unix_ms, bool *leased);

/*
 * `path` percent-encoded, without slashes at its ends; `prefix` ("auth/", "") and `suffix`
 * ("/login", "") stand around it as they are. NULL and ERR_INVALID for an empty one and for parts
 * like "..". The caller owns it.
 */
char *vaultreply_path(const char *prefix, const char *path, const char *suffix, struct err *err);

/* Bodies of requests; the caller owns them. */
char *vaultreply_login_body(const struct vault_login *login); /* mem_free_secret */
char *vaultreply_issue_body(const struct vault_secret *secret);

#endif
