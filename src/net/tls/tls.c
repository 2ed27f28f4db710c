/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls/tls.h"

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

#include "base/fingerprint.h"
#include "base/mem.h"
#include "net/tls/computing.h"
#include "net/tls/privatekey.h"
#include "net/tls/tlsguard.h"
#include "net/tls/tlsroots.h"
#include "net/tls/tlsrules.h"
#include "net/tls/x509.h"

/* Key exchange with forward secrecy and an AEAD; TLS 1.3 has its own list. */
#define TLS12_CIPHERS "ECDHE+AESGCM:ECDHE+CHACHA20"
/*
 * Limit of a client's certificate chain; the default of 100 KiB is more than untrusted clients
 * need.
 */
#define CLIENT_CHAIN_MAX 32768
#define OWN_CHAIN_MAX    16
#define KNOWN_MAX        1024

/* ---- Both sides ---- */

static const char *last_reason(void)
{
	const char *reason = ERR_reason_error_string(ERR_peek_last_error());

	return reason ? reason : "not readable";
}

static int use_chain(SSL_CTX *ctx, const char *cert_pem, struct err *err)
{
	BIO *bio = BIO_new_mem_buf(cert_pem, -1);
	X509 *cert = x509_next(bio);
	int result = 0, count = 0;

	if (!cert || SSL_CTX_use_certificate(ctx, cert) != 1)
		result = err_set(err, ERR_INVALID, "certificate: %s", last_reason());
	X509_free(cert);
	while (result == 0 && (cert = x509_next(bio)) != NULL) {
		if (++count == OWN_CHAIN_MAX)
			result = err_set(err, ERR_INVALID, "certificate chain: it has more than %d certificates",
				OWN_CHAIN_MAX);
		else if (SSL_CTX_add0_chain_cert(ctx, cert) != 1)
			result = err_set(err, ERR_INVALID, "certificate chain: %s", last_reason());
		if (result)
			X509_free(cert);
	}
	BIO_free(bio);
	ERR_clear_error(); /* the end of the text is an error: "no start line" */
	return result;
}

static int use_key(SSL_CTX *ctx, const char *key_pem, const char *key_password, struct err *err)
{
	EVP_PKEY *key = privatekey_read(key_pem, key_password, err);
	int result = key ? 0 : -1;

	if (key && (SSL_CTX_use_PrivateKey(ctx, key) != 1 || SSL_CTX_check_private_key(ctx) != 1))
		result = err_set(err, ERR_INVALID, "private key does not fit the certificate: %s", last_reason());
	EVP_PKEY_free(key);
	ERR_clear_error();
	return result;
}

static SSL_CTX *new_context(const SSL_METHOD *method)
{
	SSL_CTX *ctx = SSL_CTX_new(method);

	if (!ctx)
		return NULL;
	SSL_CTX_set_min_proto_version(ctx, TLS1_2_VERSION);
	tlsguard_apply(ctx);
	SSL_CTX_set_cipher_list(ctx, TLS12_CIPHERS);
	/* Buffers are allocated only while they hold data: an idle connection needs 34 KiB less. */
	SSL_CTX_set_mode(ctx,
		SSL_MODE_RELEASE_BUFFERS | SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
	SSL_CTX_set_session_cache_mode(ctx, SSL_SESS_CACHE_OFF);
	SSL_CTX_set_options(ctx, SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_IGNORE_UNEXPECTED_EOF);
	return ctx;
}

/* ---- Serving ---- */

struct tls_server {
	SSL_CTX *ctx; /* NULL while there is no certificate; sessions hold references */
};

struct tls_server *tls_server_new(struct err *err)
{
	(void)err;
	return mem_zalloc(sizeof(struct tls_server));
}

void tls_server_free(struct tls_server *s)
{
	if (!s)
		return;
	SSL_CTX_free(s->ctx);
	free(s);
}

static int on_alpn(SSL *ssl, const unsigned char **out, unsigned char *outlen, const unsigned char *in, unsigned inlen,
	void *arg)
{
	static const unsigned char http11[] = "\x08http/1.1";
	unsigned char *chosen;

	(void)ssl;
	(void)arg;
	if (SSL_select_next_proto(&chosen, outlen, http11, sizeof(http11) - 1, in, inlen) != OPENSSL_NPN_NEGOTIATED)
		return SSL_TLSEXT_ERR_ALERT_FATAL;
	*out = chosen;
	return SSL_TLSEXT_ERR_OK;
}

/*
 * The roots for a client certificate are decided later, and may change while the connection lives.
 */
static int on_client_certificate(X509_STORE_CTX *ctx, void *arg)
{
	(void)arg;
	return tlsguard_allows(ctx);
}

static SSL_CTX *new_server_context(void)
{
	SSL_CTX *ctx = new_context(TLS_server_method());

	if (!ctx)
		return NULL;
	SSL_CTX_set_alpn_select_cb(ctx, on_alpn, NULL);
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	SSL_CTX_set_cert_verify_callback(ctx, on_client_certificate, NULL);
	SSL_CTX_set_max_cert_list(ctx, CLIENT_CHAIN_MAX);
	/*
	 * No resumption: a ticket keeps the client's certificate but not its chain, so a resumed
	 * session would be judged differently.
	 */
	SSL_CTX_set_options(ctx, SSL_OP_NO_TICKET | SSL_OP_CIPHER_SERVER_PREFERENCE);
	SSL_CTX_set_num_tickets(ctx, 0);
	return ctx;
}

int tls_server_set_certificate(struct tls_server *s, const char *cert_pem, const char *key_pem, struct err *err)
{
	SSL_CTX *ctx = new_server_context();

	if (!ctx)
		return err_set(err, ERR_BUG, "TLS context: %s", last_reason());
	if (use_chain(ctx, cert_pem, err) < 0 || use_key(ctx, key_pem, NULL, err) < 0) {
		SSL_CTX_free(ctx);
		return -1;
	}
	SSL_CTX_free(s->ctx);
	s->ctx = ctx;
	return 0;
}

bool tls_server_has_certificate(const struct tls_server *s)
{
	return s->ctx;
}

SSL *tls_server_session(struct tls_server *s)
{
	SSL *ssl = s->ctx ? SSL_new(s->ctx) : NULL;

	if (ssl)
		SSL_set_accept_state(ssl);
	return ssl;
}

/* ---- Connecting ---- */

static X509_STORE *system_store;

void tls_forget_system_store(void)
{
	X509_STORE_free(system_store);
	system_store = NULL;
}

/*
 * Verifies the chain in ctx by its own settings, but against the system's roots. Returns an X509_V_
 * code.
 */
static int verify_by_system(X509_STORE_CTX *ctx, SSL *ssl)
{
	X509_STORE_CTX *second = X509_STORE_CTX_new();
	int code = X509_V_ERR_UNSPECIFIED;

	if (!system_store) {
		system_store = X509_STORE_new();
		if (system_store) {
			X509_STORE_set_default_paths(system_store);
			tlsrules_load_roots(system_store);
		}
	}
	if (second &&
		X509_STORE_CTX_init(second, system_store, X509_STORE_CTX_get0_cert(ctx),
			X509_STORE_CTX_get0_untrusted(ctx)) == 1) {
		X509_STORE_CTX_set_default(second, "ssl_server");
		X509_VERIFY_PARAM_set1(X509_STORE_CTX_get0_param(second), SSL_get0_param(ssl));
		/* OpenSSL sets it for the session's own store only. */
		X509_VERIFY_PARAM_set_auth_level(X509_STORE_CTX_get0_param(second), SSL_get_security_level(ssl));
		code = X509_verify_cert(second) == 1 ? X509_V_OK : X509_STORE_CTX_get_error(second);
	}
	X509_STORE_CTX_free(second);
	return code;
}

/*
 * Tries the given CA first, then the system's: the shared store is neither copied nor loaded
 * without need.
 */
static int on_server_certificate(X509_STORE_CTX *ctx, void *own_ca)
{
	SSL *ssl = X509_STORE_CTX_get_ex_data(ctx, SSL_get_ex_data_X509_STORE_CTX_idx());
	int own_code = X509_V_OK, code;

	if (!tlsguard_allows(ctx))
		return 0;
	if (SSL_get_verify_mode(ssl) == SSL_VERIFY_NONE)
		return 1;
	if (own_ca) {
		if (X509_verify_cert(ctx) == 1)
			return 1;
		own_code = X509_STORE_CTX_get_error(ctx);
	}
	code = verify_by_system(ctx, ssl);
	X509_STORE_CTX_set_error(ctx, code != X509_V_OK && own_ca ? own_code : code);
	return code == X509_V_OK;
}

int tls_trust_roots(SSL_CTX *ctx, struct tlsroots *roots, struct err *err)
{
	X509_STORE *store = tlsroots_store(roots, err);

	if (!store)
		return -1;
	SSL_CTX_set1_cert_store(ctx, store);
	/* The store has other users. */
	X509_VERIFY_PARAM_set_flags(SSL_CTX_get0_param(ctx), X509_V_FLAG_PARTIAL_CHAIN);
	return 0;
}

static int add_own_ca(SSL_CTX *ctx, const struct tls_client_config *config, struct err *err)
{
	struct tlsroots *roots = config->roots ? tlsroots_ref(config->roots) : tlsroots_get(config->ca_pem);
	int result = tls_trust_roots(ctx, roots, err);

	tlsroots_unref(roots);
	return result;
}

void tls_trust_system(SSL_CTX *ctx, bool own_ca)
{
	static char own_ca_given; /* its address means true */

	SSL_CTX_set_cert_verify_callback(ctx, on_server_certificate, own_ca ? &own_ca_given : NULL);
}

static int set_up_client(SSL_CTX *ctx, const struct tls_client_config *config, struct err *err)
{
	bool own_ca = config->ca_pem && config->ca_pem[0];

	if (own_ca && add_own_ca(ctx, config, err) < 0)
		return -1;
	tlsrules_apply(ctx);
	SSL_CTX_set_verify(ctx, config->insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
	tls_trust_system(ctx, own_ca);
	if (!config->cert_pem && !config->key_pem)
		return 0;
	if (!config->cert_pem || !config->key_pem)
		return err_set(err, ERR_INVALID,
			"a client certificate and its private key belong together: %s is missing",
			config->cert_pem ? "the key" : "the certificate");
	if (use_chain(ctx, config->cert_pem, err) < 0)
		return -1;
	return use_key(ctx, config->key_pem, config->key_password, err);
}

SSL_CTX *tls_client_context(const struct tls_client_config *config, struct err *err)
{
	SSL_CTX *ctx = new_context(TLS_client_method());

	if (!ctx) {
		err_set(err, ERR_BUG, "TLS context: %s", last_reason());
		return NULL;
	}
	if (set_up_client(ctx, config, err) < 0) {
		SSL_CTX_free(ctx);
		return NULL;
	}
	return ctx;
}

/* ---- Checking texts ---- */

static int try(const struct tls_client_config *config, struct err *err)
{
	SSL_CTX *ctx = tls_client_context(config, err);

	SSL_CTX_free(ctx);
	return ctx ? 0 : -1;
}

/* Good texts are remembered by fingerprint: a thousand triggers have the same. */
static int check(const struct tls_client_config *texts, uint64_t certificates, struct err *err)
{
	static char known[KNOWN_MAX][FINGERPRINT_TEXT];
	static size_t oldest;
	const char *const all[] = { texts->ca_pem, texts->cert_pem, texts->key_pem, texts->key_password };
	char of[FINGERPRINT_TEXT];

	fingerprint_of(all, MEM_COUNT(all), of);
	for (size_t i = 0; i < KNOWN_MAX; i++)
		if (strcmp(known[i], of) == 0)
			return 0;
	if (computing_pay(certificates * COMPUTING_CERTIFICATE, err) || try(texts, err))
		return -1;
	memcpy(known[oldest++ % KNOWN_MAX], of, sizeof(of));
	return 0;
}

int tls_client_check(const struct tls_client_config *config, struct err *err)
{
	const struct tls_client_config ca = { .ca_pem = config->ca_pem, .roots = config->roots },
				       pair = { .cert_pem = config->cert_pem,
					       .key_pem = config->key_pem,
					       .key_password = config->key_password };

	if (ca.ca_pem && *ca.ca_pem && check(&ca, 0, err)) /* net/tls/tlsroots charges for the CA when it reads it */
		return -1;
	if (!pair.cert_pem && !pair.key_pem)
		return 0;
	return check(&pair, x509_count_pem(pair.cert_pem, OWN_CHAIN_MAX + 1), err);
}

SSL *tls_client_session(SSL_CTX *ctx, const char *name, bool insecure, struct err *err)
{
	SSL *ssl = SSL_new(ctx);
	size_t len = strlen(name);
	/* Certificates have names without the final dot of DNS (RFC 6066, 3). */
	MEM_AUTO char *server_name = mem_dupn(name, len > 1 && name[len - 1] == '.' ? len - 1 : len);
	unsigned char address[16];
	bool ip = inet_pton(AF_INET, server_name, address) == 1 || inet_pton(AF_INET6, server_name, address) == 1;
	int ok = 1;

	if (!ssl) {
		err_set(err, ERR_BUG, "TLS session: %s", last_reason());
		return NULL;
	}
	SSL_set_connect_state(ssl);
	if (!ip)
		ok = SSL_set_tlsext_host_name(ssl, server_name) == 1;
	SSL_set_verify(ssl, insecure ? SSL_VERIFY_NONE : SSL_VERIFY_PEER, NULL);
	if (!insecure) {
		SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
		ok = ok &&
			(ip ? X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), server_name)
			    : SSL_set1_host(ssl, server_name)) == 1;
	}
	if (!ok) {
		SSL_free(ssl);
		ERR_clear_error();
		err_set(err, ERR_INVALID, "TLS: \"%s\" is not a server name", server_name);
		return NULL;
	}
	return ssl;
}

void tls_explain(SSL *ssl, unsigned long code, char *out, size_t size)
{
	long verify = ssl ? SSL_get_verify_result(ssl) : X509_V_OK;
	const char *reason = ERR_reason_error_string(code);

	if (verify == X509_V_ERR_APPLICATION_VERIFICATION)
		snprintf(out, size, "%s", TLSGUARD_KEY_WORDS);
	else if (verify != X509_V_OK && SSL_get_verify_mode(ssl) != SSL_VERIFY_NONE)
		snprintf(out, size, "%s", X509_verify_cert_error_string(verify));
	else if (reason)
		snprintf(out, size, "%s", reason);
	else
		snprintf(out, size, "the connection was closed");
}
