/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_VAULT_VAULTREQUEST_H
#define NET_VAULT_VAULTREQUEST_H

/*
 * One request to a Vault server, for net/vault and net/vault/vaultlogin: headers, at most one
 * redirect and none to another server (which would get the token), turns (net/http/httphost),
 * limits, and the response as JSON or an error. Knows no logins.
 */

#include <jansson.h>
#include <stdint.h>

#include "base/err.h"
#include "net/http/httpc.h"
#include "net/http/httphost.h"
#include "net/http/httpurl.h"
#include "net/loop.h"

struct vaultrequest;

/* What requests are sent with; outlives them. */
struct vaultrequest_sender {
	struct loop *loop;
	struct httpc *http;
	struct httphost_table *hosts;
};
void vaultrequest_sender_init(struct vaultrequest_sender *s, struct loop *loop);
void vaultrequest_sender_done(struct vaultrequest_sender *s);

/* Borrowed until the callback, or until the end of the turn in which the request was cancelled. */
struct vaultrequest_server {
	char *address;              /* "https://vault:8200", no slash at the end */
	struct httpurl_place place; /* of the address */
	char *namespace_;           /* NULL */
	struct httpc_server trust;
};

/*
 * answer (borrowed for the call) or err, never both; size: bytes of the response. Messages begin
 * with the server's address.
 */
typedef void (*vaultrequest_fn)(void *arg, const json_t *answer, size_t size, const struct err *err);

/*
 * path: encoded, below /v1/. token NULL: none. body NULL: GET, else POST. secret: a sent text
 * besides the token that must not be repeated in an error; NULL. asker: the namespace whose turns
 * and shares it uses ("": of several). All are copied.
 */
struct vaultrequest *vaultrequest_start(const struct vaultrequest_sender *sender,
	const struct vaultrequest_server *server, const char *path, const char *token, const char *body,
	const char *secret, const char *asker, vaultrequest_fn fn, void *arg);
void vaultrequest_cancel(struct vaultrequest *r); /* NULL is fine */

#endif
