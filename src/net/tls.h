/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_TLS_H
#define NET_TLS_H

/*
 * TLS contexts. A server context whose certificate is swapped in place while connections live on;
 * client contexts for plain sockets (Redis); the system's trust store, with what net/tlsrules adds,
 * loaded when first needed and shared. libcurl's own contexts are set up in net/http/httpc.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

typedef struct ssl_st SSL;
typedef struct ssl_ctx_st SSL_CTX;
typedef struct x509_st X509;
typedef struct x509_store_st X509_STORE;

/* ---- Serving ---- */

struct tls_server; /* owned by the daemon; borrowed by net/http/httpd */

/*
 * TLS 1.2 and later, HTTP/1.1 by ALPN, asks for a client certificate without requiring one and
 * accepts any: who the client is, is decided later (serve/access/authn).
 */
struct tls_server *tls_server_new(struct err *err);
void tls_server_free(struct tls_server *s);

/*
 * Takes a certificate chain and its key in PEM for all connections from now on; the old pair stays
 * in use until then. On an error the old pair stays for good.
 */
int tls_server_set_certificate(struct tls_server *s, const char *cert_pem, const char *key_pem, struct err *err);
bool tls_server_has_certificate(const struct tls_server *s);
/* a new session in accept state, caller owns; NULL while there is no certificate */
SSL *tls_server_session(struct tls_server *s);

/* ---- Asking ---- */

struct tls_client_config {
	const char *ca_pem;   /* trusted besides the system's; NULL for none */
	const char *cert_pem; /* client certificate and key, both or none */
	const char *key_pem;
	const char *key_password;
	bool insecure; /* verifies nothing (unsafeSsl) */
};
SSL_CTX *tls_client_context(const struct tls_client_config *config, struct err *err); /* caller owns */
/* SNI and verification of the name or IP address; caller owns */
SSL *tls_client_session(SSL_CTX *ctx, const char *server_name, bool insecure, struct err *err);

/*
 * Reads the PEMs, where there are any, so that a wrong one is known now and not at the first
 * connection.
 */
int tls_client_check(const struct tls_client_config *config, struct err *err);

/*
 * For a client context that somebody else set up (libcurl's): what its own store does not trust,
 * the system's shared store may. own_ca: its store holds something.
 */
void tls_trust_system(SSL_CTX *ctx, bool own_ca);

/*
 * Why the last TLS step on this session failed, in words ("certificate has expired", "unable to get
 * local issuer certificate"). Clears OpenSSL's queue.
 */
void tls_explain(SSL *ssl, char *out, size_t size);

/*
 * The same for an error that libevent took from the queue (bufferevent_get_openssl_error); 0 for
 * none.
 */
void tls_explain_code(SSL *ssl, unsigned long code, char *out, size_t size);

/*
 * Forgets the shared system trust store; it is loaded again when next needed (tests; a changed
 * /etc/ssl).
 */
void tls_forget_system_store(void);

#endif
