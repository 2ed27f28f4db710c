/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PGTLS_H
#define NET_PG_PGTLS_H

/*
 * What sslmode and its companions mean (libpq's manual, "SSL Support"), for TLS that net/pg/pgpump
 * speaks in libpq's place. Pure, but for files of trusted authorities that sslrootcert names.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "net/pg/pgendpoint.h"
#include "net/tls/tls.h"

/* Whether TLS is tried at a TCP address; again: after an attempt that failed (pgtls_may_change). */
bool pgtls_is_tried(const struct pgendpoint *e, bool again);
/* Whether another attempt is due, with TLS where there was none, or the reverse. */
bool pgtls_may_change(const struct pgendpoint *e, bool had_tls);
bool pgtls_is_required(const struct pgendpoint *e);
bool pgtls_is_direct(const struct pgendpoint *e); /* sslnegotiation=direct */

/*
 * A session for a connection to this host, before its handshake; the caller owns it. The
 * authorities are those that are given, and no others: verify-ca looks at no name.
 */
SSL *pgtls_session(const struct pgendpoint *e, const struct pgendpoint_host *host, struct err *err);
/*
 * Why the TLS of this session has ended, as libpq says it. code: OpenSSL's error; 0: none. error:
 * errno; 0: the connection was closed.
 */
void pgtls_explain(SSL *ssl, const struct pgendpoint_host *host, unsigned long code, int error, struct err *err);

#endif
