/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_ENTRACERT_H
#define NET_IDENTITY_ENTRACERT_H

/*
 * An application of Entra ID that has a certificate: what it signs in the place of a secret
 * (Microsoft identity platform, "certificate credentials"). Pure but for the token's number, which
 * is random.
 */

#include <stdint.h>

#include "base/err.h"

/*
 * The assertion, a secret that the caller owns. pem: the certificate and its RSA key, in any order,
 * as Azure's tools write them; what follows the first certificate is not sent. password: of the
 * key; NULL or "": none. audience: the URL that the token is asked for at. NULL with ERR_INVALID,
 * which quotes nothing.
 */
char *entracert_assertion(const char *pem, const char *password, const char *client_id, const char *audience,
	int64_t unix_ms, struct err *err);

#endif
