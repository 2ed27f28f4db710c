/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_TLS_TLS_H
#define NET_TLS_TLS_H

/*
 * TLS contexts: of our server, whose certificate can be replaced while connections live; of clients
 * on plain sockets (Redis, AMQP); and the system's trust store, with what net/tls/tlsrules adds,
 * loaded at first use and shared. The contexts of libcurl are set up in net/http/httprequest.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

typedef struct ssl_st SSL;
typedef struct ssl_ctx_st SSL_CTX;
typedef struct x509_st X509;
typedef struct x509_store_st X509_STORE;
struct tlsroots;

/* ---- Serving ---- */

struct tls_server; /* owned by the daemon; borrowed by net/httpd/httpd */

/*
 * TLS 1.2 and later, HTTP/1.1 by ALPN. Asks for a client certificate, but requires none and accepts
 * any: serve/access/authn decides later who the client is.
 */
struct tls_server *tls_server_new(struct err *err);
void tls_server_free(struct tls_server *s);

/* Uses this certificate chain and key (PEM) for new connections. On an error the old pair stays. */
int tls_server_set_certificate(struct tls_server *s, const char *cert_pem, const char *key_pem, struct err *err);
bool tls_server_has_certificate(const struct tls_server *s);
/* A new session in accept state, which the caller owns; NULL while there is no certificate. */
SSL *tls_server_session(struct tls_server *s);

/* ---- Connecting ---- */

struct tls_client_config {
	const char *ca_pem; /* trusted in addition to the system's roots; NULL: none */
	/* of ca_pem; borrowed from the owner of the connections; NULL: found by the text */
	struct tlsroots *roots;
	const char *cert_pem; /* client certificate and key: both or neither */
	const char *key_pem;
	const char *key_password;
	bool insecure; /* verifies nothing (unsafeSsl) */
};
SSL_CTX *tls_client_context(const struct tls_client_config *config, struct err *err); /* caller owns */
/*
 * Sets SNI and the name (without a final dot) or IP address to verify. The caller owns the session.
 */
SSL *tls_client_session(SSL_CTX *ctx, const char *name, bool insecure, struct err *err);

/*
 * Parses the PEM texts, if any, so that an error is reported before the first connection. Texts not
 * recently found good are charged to the namespace: ERR_TEMPORARY (net/tls/computing).
 */
int tls_client_check(const struct tls_client_config *config, struct err *err);

/*
 * For a client context that another library set up (libcurl): a chain that its own store does not
 * trust is verified against the shared system store. own_ca: its own store is not empty.
 */
void tls_trust_system(SSL_CTX *ctx, bool own_ca);

/*
 * Gives a client context the store of these authorities. Each of them, even an intermediate, is
 * trusted as a root, as in Go and libcurl. -1 with err, like tlsroots_store.
 */
int tls_trust_roots(SSL_CTX *ctx, struct tlsroots *roots, struct err *err);

/*
 * Why a TLS operation of this session failed, in words ("certificate has expired", "unable to get
 * local issuer certificate"). code: OpenSSL's error, as from ERR_peek_last_error or
 * bufferevent_get_openssl_error; 0 for none.
 */
void tls_explain(SSL *ssl, unsigned long code, char *out, size_t size);

/*
 * Drops the shared system trust store, which is loaded again at its next use (for tests, or after a
 * change of /etc/ssl).
 */
void tls_forget_system_store(void);

#endif
