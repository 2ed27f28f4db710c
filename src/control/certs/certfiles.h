/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_CERTS_CERTFILES_H
#define CONTROL_CERTS_CERTFILES_H

/*
 * The user's certificate and key in files: given to the TLS server at the start and whenever the
 * files change. Checks them every few seconds (mounted Secrets change by symbolic links, which stat
 * follows); if new files are broken the old pair stays in use, and that is logged once. Does
 * nothing in the cluster.
 */

#include <stdint.h>

#include "base/err.h"
#include "net/loop.h"
#include "net/tls/tls.h"

struct certfiles;

/*
 * ERR_MISSING or ERR_INVALID naming the file, if the pair cannot be used at the start. Borrows loop
 * and tls.
 */
struct certfiles *certfiles_new(struct loop *loop, struct tls_server *tls, const char *cert_file, const char *key_file,
	struct err *err);
void certfiles_free(struct certfiles *f);

void certfiles_reload(struct certfiles *f);                 /* reads them now, changed or not */
int64_t certfiles_until_unix_ms(const struct certfiles *f); /* the end of the certificate in use */
const char *certfiles_trouble(const struct certfiles *f);   /* borrowed; NULL: none */

#endif
