/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_TLSRULES_H
#define NET_TLSRULES_H

/*
 * What the process as a whole demands of the servers that scalers ask over TLS: HTTP, gRPC and
 * Redis (keda-scalers.md C.6). Not of the API server and Vault, and of databases, whose libraries
 * set up TLS themselves, only that there is any. Said once, before the first context; without that,
 * TLS 1.2 and the libraries' suites.
 */

#include <stdbool.h>

#include "base/err.h"

typedef struct ssl_ctx_st SSL_CTX;
typedef struct x509_store_st X509_STORE;

#define TLSRULES_CA_DIR "/custom/ca" /* the default of ca_dirs: need not exist */

struct tlsrules_config {
	const char *min_version; /* "TLS10" to "TLS13"; NULL: TLS12 */
	/*
	 * IANA names, separated by ':' or ','; NULL: any good one. What is unknown is left out,
	 * with a warning, as KEDA does
	 */
	const char *ciphers;
	/*
	 * folders, separated by ',': their files are trusted besides the system's roots; NULL: none
	 */
	const char *ca_dirs;
	bool required; /* --require-tls: Redis, databases and gRPC are not asked without */
};

/* ERR_INVALID: min_version is none. */
int tlsrules_set(const struct tlsrules_config *config, struct err *err);
void tlsrules_done(void);

/*
 * Whether a server may be asked: over TLS always, in the clear unless TLS is required. ERR_DENIED
 * says `instead`, what its user should write.
 */
int tlsrules_demand(bool is_tls, const char *instead, struct err *err);

/* Version and suites, for a client context. */
void tlsrules_apply(SSL_CTX *ctx);
/*
 * Every certificate of every file of the folders, but of names that begin with ".." (a mounted
 * ConfigMap has such). What cannot be read is said in the log and left out.
 */
void tlsrules_load_roots(X509_STORE *store);

#endif
