/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_ENTRACERT_H
#define NET_IDENTITY_ENTRACERT_H

/*
 * The assertion that an application of Entra ID signs with its certificate (Microsoft identity
 * platform, "certificate credentials"). Pure, except for the random token id.
 */

#include <stdint.h>

#include "base/err.h"

/*
 * The signed assertion, a secret that the caller owns. pem: the certificate and its RSA key, in any
 * order, as Azure's tools write them; further certificates are ignored. password: the key's; NULL
 * or "": none. audience: the token endpoint's URL. NULL with ERR_INVALID, which quotes nothing.
 */
char *entracert_assertion(const char *pem, const char *password, const char *client_id, const char *audience,
	int64_t unix_ms, struct err *err);

#endif
