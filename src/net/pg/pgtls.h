/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PGTLS_H
#define NET_PG_PGTLS_H

/*
 * Implements sslmode and related settings (libpq's manual, "SSL Support") for the TLS of
 * net/pg/pgpump. Pure, except for reading the CA file that sslrootcert names.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "net/pg/pgendpoint.h"
#include "net/tls/tls.h"

/* Whether to try TLS at a TCP address; again: in a second attempt (pgtls_may_change). */
bool pgtls_is_tried(const struct pgendpoint *e, bool again);
/* Whether to make a second attempt, with TLS if there was none, or vice versa. */
bool pgtls_may_change(const struct pgendpoint *e, bool had_tls);
bool pgtls_is_required(const struct pgendpoint *e);
bool pgtls_is_direct(const struct pgendpoint *e); /* sslnegotiation=direct */

/*
 * A session for a connection to this host, before its handshake; the caller owns it. Trusts the
 * given CAs only. verify-ca does not check the name.
 */
SSL *pgtls_session(const struct pgendpoint *e, const struct pgendpoint_host *host, struct err *err);
/*
 * Explains in libpq's words why the TLS of this session has ended. code: OpenSSL's error; 0: none.
 * error: errno; 0: the connection was closed.
 */
void pgtls_explain(SSL *ssl, const struct pgendpoint_host *host, unsigned long code, int error, struct err *err);

#endif
