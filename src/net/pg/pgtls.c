/* SPDX-License-Identifier: Apache-2.0 */
#include "net/pg/pgtls.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>

#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/tls/tlsguard.h"
#include "net/tls/tlsroots.h"

#define ROOT_FILE_MAX (4u << 20)

/* ---- Whether there is TLS ---- */

static const char *setting(const struct pgendpoint *e, const char *name)
{
	const char *value = strmap_get(&e->settings, name);

	return value ? value : "";
}

static bool is_mode(const struct pgendpoint *e, const char *mode)
{
	const char *given = setting(e, "sslmode");

	return strcmp(*given ? given : "prefer", mode) == 0;
}

bool pgtls_is_tried(const struct pgendpoint *e, bool again)
{
	if (is_mode(e, "allow"))
		return again;
	return !is_mode(e, "disable") && !again;
}

bool pgtls_may_change(const struct pgendpoint *e, bool had_tls)
{
	return is_mode(e, had_tls ? "prefer" : "allow");
}

bool pgtls_is_required(const struct pgendpoint *e)
{
	return !is_mode(e, "disable") && !is_mode(e, "allow") && !is_mode(e, "prefer");
}

bool pgtls_is_direct(const struct pgendpoint *e)
{
	return strcmp(setting(e, "sslnegotiation"), "direct") == 0;
}

/* ---- Sessions ---- */

static const char *root_file(const struct pgendpoint *e)
{
	const char *root = setting(e, "sslrootcert");

	return *root && strcmp(root, "system") != 0 ? root : NULL;
}

/* As in libpq, which verifies whenever it has a CA. */
static bool verifies(const struct pgendpoint *e)
{
	return e->base.tls.ca_pem || *setting(e, "sslrootcert") || text_begins(setting(e, "sslmode"), "verify");
}

static int version_of(const char *text)
{
	static const struct {
		const char *name;
		int version;
	} versions[] = {
		{ "TLSv1", TLS1_VERSION },
		{ "TLSv1.1", TLS1_1_VERSION },
		{ "TLSv1.2", TLS1_2_VERSION },
		{ "TLSv1.3", TLS1_3_VERSION },
	};

	for (size_t i = 0; i < MEM_COUNT(versions); i++) {
		if (strcasecmp(versions[i].name, text) == 0)
			return versions[i].version;
	}
	return 0; /* not given: libpq has refused invalid ones already */
}

/* From the connection string only: the TLS options (net/tls/tlsrules) are for other sources. */
static void set_rules(SSL_CTX *ctx, const struct pgendpoint *e)
{
	int least = version_of(setting(e, "ssl_min_protocol_version"));

	SSL_CTX_set_min_proto_version(ctx, least ? least : TLS1_2_VERSION);
	SSL_CTX_set_max_proto_version(ctx, version_of(setting(e, "ssl_max_protocol_version")));
	SSL_CTX_set_cipher_list(ctx, TLSGUARD_CIPHERS);
	SSL_CTX_set_ciphersuites(ctx, OSSL_default_ciphersuites());
}

/* Verifies by the given CAs only, without the system's. */
static int on_certificate(X509_STORE_CTX *ctx, void *arg)
{
	(void)arg;
	return tlsguard_allows(ctx) && X509_verify_cert(ctx) == 1;
}

/* Trusts these only; as in libpq, intermediate certificates among them are not roots. */
static int trust_file(SSL_CTX *ctx, const char *path, struct err *err)
{
	struct buf text = BUF_INIT(ROOT_FILE_MAX);
	struct tlsroots *roots;
	X509_STORE *store;

	if (file_read(path, FILE_REGULAR, NULL, &text, err) < 0) {
		buf_done(&text);
		return err_set(err, ERR_INVALID, "sslrootcert names no usable file");
	}
	roots = tlsroots_get_of_file(buf_text(&text));
	store = roots ? tlsroots_store(roots, err) : NULL;
	if (store)
		SSL_CTX_set1_cert_store(ctx, store);
	else if (!roots || err->kind == ERR_INVALID)
		err_set(err, ERR_INVALID, "sslrootcert names no usable file");
	tlsroots_unref(roots);
	buf_done(&text);
	return store ? 0 : -1;
}

static SSL_CTX *make_context(const struct pgendpoint *e, struct err *err)
{
	struct tls_client_config config = e->base.tls;
	const char *file = root_file(e);
	SSL_CTX *ctx;

	config.key_password = strmap_get(&e->settings, "sslpassword");
	config.insecure = !verifies(e);
	ctx = tls_client_context(&config, err);
	if (!ctx)
		return NULL;
	set_rules(ctx, e);
	if (config.ca_pem || file)
		SSL_CTX_set_cert_verify_callback(ctx, on_certificate, NULL);
	if (file && trust_file(ctx, file, err)) {
		SSL_CTX_free(ctx);
		return NULL;
	}
	return ctx;
}

/* Only verify-full checks the certificate's name. */
static void forget_name(SSL *ssl)
{
	X509_VERIFY_PARAM *param = SSL_get0_param(ssl);

	X509_VERIFY_PARAM_set1_host(param, NULL, 0);
	X509_VERIFY_PARAM_set1_ip(param, NULL, 0);
}

SSL *pgtls_session(const struct pgendpoint *e, const struct pgendpoint_host *host, struct err *err)
{
	static const unsigned char protocol[] = "\x0apostgresql";
	SSL_CTX *ctx;
	SSL *ssl;

	if (is_mode(e, "verify-full") && !*host->host) {
		err_set(err, ERR_INVALID, "host name must be specified for a verified SSL connection");
		return NULL;
	}
	ctx = make_context(e, err);
	ssl = ctx ? tls_client_session(ctx, *host->host ? host->host : host->hostaddr, !verifies(e), err) : NULL;
	SSL_CTX_free(ctx); /* the session has a reference */
	if (!ssl)
		return NULL;
	if (!is_mode(e, "verify-full"))
		forget_name(ssl);
	if (text_begins(setting(e, "sslsni"), "0"))
		SSL_set_tlsext_host_name(ssl, NULL);
	if (pgtls_is_direct(e))
		SSL_set_alpn_protos(ssl, protocol, sizeof(protocol) - 1);
	return ssl;
}

/* ---- Ends ---- */

/* The first name that the certificate is for; "" for none. */
static void name_of(X509 *cert, char *out, int size)
{
	GENERAL_NAMES *names = X509_get_ext_d2i(cert, NID_subject_alt_name, NULL, NULL);

	*out = '\0';
	for (int i = 0; i < sk_GENERAL_NAME_num(names) && !*out; i++) {
		const GENERAL_NAME *name = sk_GENERAL_NAME_value(names, i);

		if (name->type == GEN_DNS)
			snprintf(out, (size_t)size, "%.*s", ASN1_STRING_length(name->d.dNSName),
				(const char *)ASN1_STRING_get0_data(name->d.dNSName));
	}
	GENERAL_NAMES_free(names);
	if (!*out)
		X509_NAME_get_text_by_NID(X509_get_subject_name(cert), NID_commonName, out, size);
}

static void explain_name(SSL *ssl, const struct pgendpoint_host *host, struct err *err)
{
	X509 *cert = SSL_get1_peer_certificate(ssl);
	char name[128] = "";

	if (cert)
		name_of(cert, name, sizeof(name));
	X509_free(cert);
	err_set(err, ERR_TEMPORARY, "server certificate for \"%s\" does not match host name \"%s\"", name, host->host);
}

void pgtls_explain(SSL *ssl, const struct pgendpoint_host *host, unsigned long code, int error, struct err *err)
{
	long verified = SSL_get_verify_result(ssl);
	const char *reason = ERR_reason_error_string(code);

	if (SSL_get_verify_mode(ssl) == SSL_VERIFY_NONE && verified != X509_V_ERR_APPLICATION_VERIFICATION)
		verified = X509_V_OK;
	if (verified == X509_V_ERR_APPLICATION_VERIFICATION)
		err_set(err, ERR_DENIED, "SSL error: %s", TLSGUARD_KEY_WORDS);
	else if (verified == X509_V_ERR_HOSTNAME_MISMATCH || verified == X509_V_ERR_IP_ADDRESS_MISMATCH)
		explain_name(ssl, host, err);
	else if (verified != X509_V_OK)
		err_set(err, ERR_DENIED, "SSL error: certificate verify failed (%s)",
			X509_verify_cert_error_string(verified));
	else if (reason)
		err_set(err, ERR_TEMPORARY, "SSL error: %s", reason);
	else
		err_set(err, ERR_TEMPORARY, "SSL SYSCALL error: %s", error ? strerror(error) : "EOF detected");
}
