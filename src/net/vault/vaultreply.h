/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_VAULT_VAULTREPLY_H
#define NET_VAULT_VAULTREPLY_H

/*
 * Parses Vault's responses and makes request bodies and paths: pure functions for net/vault and its
 * parts. Input from the server is untrusted. Messages quote only its list of errors, not JSON that
 * does not parse, as it may be a secret.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/vault/vaultterms.h"

/*
 * The response's object, owned by the caller. NULL and *err for a failure: ERR_MISSING (404),
 * ERR_DENIED (401, 403), else ERR_TEMPORARY, with http_status and the server's message, unless that
 * contains one of the secrets that were sent (NULL-terminated).
 */
json_t *vaultreply_parse(int status, const char *body, size_t len, const char *const *secrets, struct err *err);

/* Whether a server's text contains one of the secrets, in any case, and so must not be shown. */
bool vaultreply_repeats(const char *words, const char *const *secrets);

/* The properties of a token. */
struct vaultreply_token {
	/* owned: mem_free_secret; NULL when the response is about the token that was sent */
	char *token;
	int64_t ttl_ms; /* 0: does not expire */
	bool renewable;
};
/* of a login response: `auth`, with a token */
int vaultreply_login(const json_t *answer, struct vaultreply_token *out, struct err *err);
int vaultreply_renewal(const json_t *answer, struct vaultreply_token *out, struct err *err); /* of renew-self: `auth` */
int vaultreply_lookup(const json_t *answer, struct vaultreply_token *out, struct err *err); /* of lookup-self: `data` */
bool vaultreply_is_token(const char *text); /* visible ASCII, not too long: valid in a header */

/*
 * The object with the keys and values of a response, borrowed; NULL with ERR_MISSING without (a
 * deleted version).
 */
const json_t *vaultreply_data(const json_t *answer, enum vault_engine engine, struct err *err);

/*
 * The value of a key: strings as they are, integers and booleans as in JSON (KEDA gives "" for
 * those), for PKI also lists of strings (ca_chain), joined by newlines. ERR_MISSING without the
 * key, ERR_INVALID for other types. The caller owns it: mem_free_secret.
 */
char *vaultreply_value(const json_t *data, enum vault_engine engine, const char *key, struct err *err);

/*
 * How long the response may be used before it is read again: two thirds of its lease, or, for a
 * certificate, of the time until its `expiration`; 0: unknown. A lease_duration without a lease,
 * which key-value engine 1 sends, is ignored. *leased: the server revokes it when the token
 * expires.
 */
int64_t vaultreply_good_for_ms(const json_t *answer, enum vault_engine engine, int64_t now_unix_ms, bool *leased);

/*
 * `path` percent-encoded, without slashes at its ends, between `prefix` ("auth/", "") and `suffix`
 * ("/login", ""), which are used as they are. NULL with ERR_INVALID for an empty path and for
 * segments like "..". The caller owns it.
 */
char *vaultreply_path(const char *prefix, const char *path, const char *suffix, struct err *err);

/* Request bodies; the caller owns them. */
char *vaultreply_login_body(const struct vault_login *login); /* mem_free_secret */
char *vaultreply_issue_body(const struct vault_secret *secret);

#endif
