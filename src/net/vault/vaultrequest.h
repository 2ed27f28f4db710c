/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_VAULT_VAULTREQUEST_H
#define NET_VAULT_VAULTREQUEST_H

/*
 * One request to a Vault server, for net/vault and net/vault/vaultlogin, sent by net/web/webclient:
 * its headers, at most one redirect and none to another server (which would get the token), and the
 * response as JSON or an error. Does not log in.
 */

#include <jansson.h>

#include "base/err.h"
#include "net/web/webclient.h"

struct vaultrequest;

#define VAULTREQUEST_MS 30000 /* of a request with the wait for its turn; callers have their own deadlines */

struct vaultrequest_server {      /* borrowed during vaultrequest_start */
	char *address;            /* "https://vault:8200", no slash at the end */
	char *namespace_;         /* NULL */
	struct webaccess *access; /* its TLS settings */
};

/*
 * answer (borrowed for the call) or err, never both; size: bytes of the response. Messages begin
 * with the server's address.
 */
typedef void (*vaultrequest_fn)(void *arg, const json_t *answer, size_t size, const struct err *err);

/*
 * path: encoded, below /v1/. token NULL: none. body NULL: GET, else POST. secret: another text that
 * is sent and must not be repeated in an error; NULL. asker: the namespace whose turns and shares
 * it uses ("": several). All are copied. client: has a default time-out of VAULTREQUEST_MS.
 */
struct vaultrequest *vaultrequest_start(struct webclient *client, const struct vaultrequest_server *server,
	const char *path, const char *token, const char *body, const char *secret, const char *asker,
	vaultrequest_fn fn, void *arg);
void vaultrequest_cancel(struct vaultrequest *r); /* NULL is fine */

#endif
