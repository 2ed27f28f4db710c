/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_KERBEROS_H
#define NET_KERBEROS_H

/*
 * Keeps the Kerberos library, which libpq and libcurl link, from blocking. When a PostgreSQL server
 * asks for a GSSAPI login under TLS (which net/pg/pglogin cannot read), libpq before 16 calls the
 * library, which by default looks up names, realms and key servers while the whole process waits.
 * With a configuration that looks up nothing, and without tickets and keys, it fails at once.
 */

#include "base/err.h"

/*
 * Sets KRB5_CONFIG and related variables of this process; call it before a library reads them.
 * Returns the descriptor of the configuration, which must stay open as long as libraries may read
 * it; -1 with err.
 */
int kerberos_forbid(struct err *err);

#endif
