/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_KERBEROS_H
#define NET_KERBEROS_H

/*
 * Keeps the Kerberos library, which libpq and libcurl bring along, from waiting for anything. When
 * a PostgreSQL server asks for a login by GSSAPI under TLS, where nobody can read along, libpq
 * before 16 calls that library, and by itself it looks up names, realms and key servers while the
 * whole process waits. With a configuration of our own, that looks up nothing, and without tickets
 * and keys, it fails at once.
 */

#include "base/err.h"

/*
 * Sets KRB5_CONFIG and its like for this process, so before any library reads them. Gives the
 * descriptor of the configuration, which is to be open as long as libraries may read it; -1 with
 * err.
 */
int kerberos_forbid(struct err *err);

#endif
