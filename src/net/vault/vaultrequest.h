/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_VAULT_VAULTREQUEST_H
#define NET_VAULT_VAULTREQUEST_H

/*
 * The requests of exchanges (net/web/exchange) with a Vault server, and their responses as JSON or
 * an error: for net/vault and net/vault/vaultlogin. At most one redirect is followed, and none to
 * another server, which would get the token. Does not log in.
 */

#include <jansson.h>

#include "base/err.h"
#include "net/web/exchange.h"

#define VAULTREQUEST_MS 30000 /* of a request with the wait for its turn; callers have their own deadlines */

struct vaultrequest_server {      /* borrowed by exchanges until their end */
	char *address;            /* "https://vault:8200", no slash at the end */
	char *namespace_;         /* NULL */
	struct webaccess *access; /* its TLS settings */
};

/*
 * The owner's part of an exchange of at most two requests. client: has a default time-out of
 * VAULTREQUEST_MS. asker: the namespace whose turns and shares it uses ("": several); borrowed.
 */
struct exchange vaultrequest_exchange(struct loop *loop, struct webclient *client,
	const struct vaultrequest_server *server, const char *asker);

/* Makes a request. path: encoded, below /v1/. token NULL: none. body NULL: GET, else POST. */
void vaultrequest_make(const struct vaultrequest_server *server, const char *path, const char *token, const char *body,
	struct webrequest *out);

/*
 * Reads the response to the exchange's request: the object, owned by the caller; or NULL and *err,
 * whose message begins with the server's origin and repeats neither the token nor `secret`, another
 * text that was sent (NULL).
 */
json_t *vaultrequest_read(const struct exchange *x, const struct webresponse *response, const char *secret,
	struct err *err);

#endif
