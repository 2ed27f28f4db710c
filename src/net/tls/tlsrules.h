/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_TLS_TLSRULES_H
#define NET_TLS_TLSRULES_H

/*
 * The TLS requirements of the whole process for servers of scalers: HTTP, gRPC, AMQP and Redis
 * (doc/keda.md 6.5). They do not apply to the API server and Vault; for databases, whose libraries
 * set up TLS themselves, only `required` applies. Set once, before the first context; the default
 * is TLS 1.2 and the libraries' cipher suites.
 */

#include <stdbool.h>

#include "base/err.h"

typedef struct ssl_ctx_st SSL_CTX;
typedef struct x509_store_st X509_STORE;

#define TLSRULES_CA_DIR "/custom/ca" /* default of ca_dirs; may be missing */

struct tlsrules_config {
	const char *min_version; /* "TLS10" to "TLS13"; NULL: TLS12 */
	/*
	 * IANA names, separated by ':' or ','; NULL: the library's default. Unknown names are
	 * skipped with a warning, as KEDA does.
	 */
	const char *ciphers;
	/*
	 * Folders, separated by ',': certificates in their files are trusted in addition to the
	 * system's roots; NULL: none.
	 */
	const char *ca_dirs;
	bool required; /* --require-tls: no queries to Redis, AMQP, databases, gRPC without TLS */
};

/* ERR_INVALID: min_version is unknown. */
int tlsrules_set(const struct tlsrules_config *config, struct err *err);
void tlsrules_done(void);

/*
 * 0 if the connection may be made: with TLS always, without it unless TLS is required. -1 with
 * ERR_DENIED, whose message repeats `instead`: what the user should write.
 */
int tlsrules_demand(bool is_tls, const char *instead, struct err *err);

/* Sets minimum version and cipher suites of a client context. */
void tlsrules_apply(SSL_CTX *ctx);
/*
 * Adds all certificates of all files in ca_dirs, except files whose names begin with ".." (a
 * mounted ConfigMap has such). A file that cannot be read is logged and skipped.
 */
void tlsrules_load_roots(X509_STORE *store);

#endif
