/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls/x509.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/x509.h>
#include <openssl/x509v3.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "base/calendar.h"
#include "base/mem.h"
#include "net/tls/privatekey.h"

#define S_PER_DAY       86400
#define COMMON_NAME_MAX 64  /* ub-common-name, RFC 5280 */
#define SERIAL_BITS     159 /* positive in 20 octets, RFC 5280 4.1.2.2 */

static int fail_openssl(struct err *err, const char *what)
{
	const char *reason = ERR_reason_error_string(ERR_peek_last_error());

	err_set(err, ERR_INVALID, "%s: %s", what, reason ? reason : "not readable");
	ERR_clear_error();
	return -1;
}

/* Keeps OpenSSL from prompting on the terminal. */
static int no_password(char *out, int size, int writing, void *arg)
{
	(void)out;
	(void)size;
	(void)writing;
	(void)arg;
	return -1;
}

X509 *x509_next(BIO *bio)
{
	return PEM_read_bio_X509(bio, NULL, no_password, NULL);
}

static X509 *read_cert(const char *pem)
{
	BIO *bio = BIO_new_mem_buf(pem ? pem : "", -1);
	X509 *cert = x509_next(bio);

	BIO_free(bio);
	return cert;
}

static EVP_PKEY *read_key(const char *pem)
{
	return privatekey_read(pem ? pem : "", NULL, NULL);
}

/* ---- Making ---- */

void x509_pair_done(struct x509_pair *pair)
{
	mem_free_ptr(&pair->cert_pem);
	mem_free_secret(pair->key_pem);
	pair->key_pem = NULL;
}

static bool set_serial(X509 *cert)
{
	BIGNUM *serial = BN_new();
	bool ok = serial && BN_rand(serial, SERIAL_BITS, BN_RAND_TOP_ONE, BN_RAND_BOTTOM_ANY) == 1 &&
		BN_to_ASN1_INTEGER(serial, X509_get_serialNumber(cert));

	BN_free(serial);
	return ok;
}

/* By days since 1970: a time_t of 32 bits ends in 2038. */
static bool set_time(ASN1_TIME *time, int64_t unix_s)
{
	return ASN1_TIME_adj(time, 0, (int)(unix_s / S_PER_DAY), (long)(unix_s % S_PER_DAY)) != NULL;
}

/* A certificate without issuer, extensions and signature. */
static X509 *new_cert(EVP_PKEY *key, const char *common_name, int64_t not_before_s, int64_t not_after_s)
{
	size_t name_len = strnlen(common_name, COMMON_NAME_MAX);
	X509 *cert = X509_new();

	if (cert && X509_set_version(cert, X509_VERSION_3) == 1 && set_serial(cert) &&
		set_time(X509_getm_notBefore(cert), not_before_s) && set_time(X509_getm_notAfter(cert), not_after_s) &&
		X509_set_pubkey(cert, key) == 1 &&
		X509_NAME_add_entry_by_NID(X509_get_subject_name(cert), NID_commonName, MBSTRING_UTF8,
			(const unsigned char *)common_name, (int)name_len, -1, 0) == 1)
		return cert;
	X509_free(cert);
	return NULL;
}

struct extension {
	int nid;
	const char *value;
};

/* A CA with an extended key usage can issue for no other: Go and OpenSSL verify that. */
static const struct extension ca_extensions[] = {
	{ NID_basic_constraints, "critical,CA:TRUE,pathlen:0" },
	{ NID_key_usage, "critical,keyCertSign,cRLSign" },
	{ NID_ext_key_usage, "serverAuth" },
	{ NID_subject_key_identifier, "hash" },
	{ NID_undef, NULL },
};

static const struct extension serving_extensions[] = {
	{ NID_basic_constraints, "critical,CA:FALSE" },
	{ NID_key_usage, "critical,digitalSignature" },
	{ NID_ext_key_usage, "serverAuth" },
	{ NID_subject_key_identifier, "hash" },
	{ NID_authority_key_identifier, "keyid:always" },
	{ NID_undef, NULL },
};

static int add_extension(X509 *cert, X509_EXTENSION *extension /* takes; NULL is an error */)
{
	int result = extension && X509_add_ext(cert, extension, -1) == 1 ? 0 : -1;

	X509_EXTENSION_free(extension);
	return result;
}

static int add_extensions(X509 *cert, X509 *issuer, const struct extension *list)
{
	X509V3_CTX ctx;

	X509V3_set_ctx(&ctx, issuer, cert, NULL, NULL, 0);
	for (; list->value; list++)
		if (add_extension(cert, X509V3_EXT_conf_nid(NULL, &ctx, list->nid, list->value)) < 0)
			return -1;
	return 0;
}

static size_t ip_literal(const char *text, unsigned char address[16])
{
	if (inet_pton(AF_INET, text, address) == 1)
		return 4;
	return inet_pton(AF_INET6, text, address) == 1 ? 16 : 0;
}

static bool is_dns_name(const char *text)
{
	size_t len = strlen(text);

	if (len == 0 || len > 253)
		return false;
	for (; *text; text++) {
		if (!isalnum((unsigned char)*text) && !strchr("-._*", *text))
			return false;
	}
	return true;
}

static GENERAL_NAME *new_general_name(int type, const void *bytes, size_t len)
{
	GENERAL_NAME *name = GENERAL_NAME_new();
	ASN1_STRING *value = ASN1_STRING_type_new(type == GEN_IPADD ? V_ASN1_OCTET_STRING : V_ASN1_IA5STRING);

	ASN1_STRING_set(value, bytes, (int)len);
	GENERAL_NAME_set0_value(name, type, value);
	return name;
}

static int add_alt_names(X509 *cert, const char *const *dns_names)
{
	GENERAL_NAMES *names = GENERAL_NAMES_new();
	unsigned char address[16];
	int result;

	for (; *dns_names; dns_names++) {
		size_t address_len = ip_literal(*dns_names, address);

		sk_GENERAL_NAME_push(names,
			address_len ? new_general_name(GEN_IPADD, address, address_len)
				    : new_general_name(GEN_DNS, *dns_names, strlen(*dns_names)));
	}
	result = X509_add1_ext_i2d(cert, NID_subject_alt_name, names, 0, 0) == 1 ? 0 : -1;
	GENERAL_NAMES_free(names);
	return result;
}

static void add_subtree(STACK_OF(GENERAL_SUBTREE) * *list, int type, const void *bytes, size_t len)
{
	GENERAL_SUBTREE *subtree = GENERAL_SUBTREE_new();

	GENERAL_NAME_free(subtree->base);
	subtree->base = new_general_name(type, bytes, len);
	if (!*list)
		*list = sk_GENERAL_SUBTREE_new_null();
	sk_GENERAL_SUBTREE_push(*list, subtree);
}

/*
 * Permits these names only. Without an IP address all addresses are excluded: a name type that is
 * not mentioned would be unrestricted (RFC 5280, 4.2.1.10). An address is written with its mask; a
 * DNS name includes those below it.
 */
static X509_EXTENSION *new_name_constraints(const char *const *dns_names)
{
	static const unsigned char everything[32];
	NAME_CONSTRAINTS *constraints = NAME_CONSTRAINTS_new();
	unsigned char range[32];
	bool has_address = false;
	X509_EXTENSION *extension;

	for (; *dns_names; dns_names++) {
		size_t address_len = ip_literal(*dns_names, range);

		memset(range + address_len, 0xff, address_len);
		if (address_len)
			add_subtree(&constraints->permittedSubtrees, GEN_IPADD, range, 2 * address_len);
		else
			add_subtree(&constraints->permittedSubtrees, GEN_DNS, *dns_names, strlen(*dns_names));
		has_address = has_address || address_len;
	}
	if (!has_address) {
		add_subtree(&constraints->excludedSubtrees, GEN_IPADD, everything, 8);
		add_subtree(&constraints->excludedSubtrees, GEN_IPADD, everything, 32);
	}
	extension = X509V3_EXT_i2d(NID_name_constraints, 1, constraints);
	NAME_CONSTRAINTS_free(constraints);
	return extension;
}

static int write_pair(X509 *cert, EVP_PKEY *key, struct x509_pair *out)
{
	BIO *bio = BIO_new(BIO_s_mem());
	bool ok = PEM_write_bio_X509(bio, cert) == 1;
	char *text;
	long len = BIO_get_mem_data(bio, &text);

	out->cert_pem = mem_dupn(text, (size_t)len);
	out->key_pem = privatekey_write(key);
	BIO_free(bio);
	if (ok && out->key_pem)
		return 0;
	x509_pair_done(out);
	return -1;
}

static int check_names(const char *const *dns_names, struct err *err)
{
	unsigned char address[16];

	/*
	 * An IP address as common name would be verified as a DNS name, which the constraints
	 * exclude.
	 */
	if (!dns_names || !dns_names[0] || ip_literal(dns_names[0], address))
		return err_set(err, ERR_INVALID, "serving certificate: its first name must be a DNS name");
	for (size_t i = 0; dns_names[i]; i++) {
		if (!is_dns_name(dns_names[i]) && !ip_literal(dns_names[i], address))
			return err_set(err, ERR_INVALID,
				"serving certificate: \"%s\" is neither a DNS name nor an IP address", dns_names[i]);
	}
	return 0;
}

int x509_make_ca(const char *common_name, const char *const *dns_names, int64_t now_unix_ms, int64_t valid_s,
	struct x509_pair *out, struct err *err)
{
	int64_t now_s = now_unix_ms / 1000;
	EVP_PKEY *key;
	X509 *cert;
	int result = 0;

	if (check_names(dns_names, err) < 0)
		return -1;
	key = EVP_EC_gen("P-256");
	cert = key ? new_cert(key, common_name, now_s - X509_BACKDATE_S, now_s + valid_s) : NULL;
	if (!cert || X509_set_issuer_name(cert, X509_get_subject_name(cert)) != 1 ||
		add_extensions(cert, cert, ca_extensions) < 0 ||
		add_extension(cert, new_name_constraints(dns_names)) < 0 || X509_sign(cert, key, EVP_sha256()) == 0 ||
		write_pair(cert, key, out) < 0)
		result = fail_openssl(err, "making a CA");
	X509_free(cert);
	EVP_PKEY_free(key);
	return result;
}

static int64_t unix_s(const ASN1_TIME *time)
{
	struct tm tm;

	if (ASN1_TIME_to_tm(time, &tm) != 1)
		return 0;
	return calendar_days(tm.tm_year + 1900, tm.tm_mon + 1, tm.tm_mday) * S_PER_DAY + tm.tm_hour * 3600 +
		tm.tm_min * 60 + tm.tm_sec;
}

int x509_make_serving(const struct x509_pair *ca, const char *const *dns_names, int64_t now_unix_ms, int64_t valid_s,
	struct x509_pair *out, struct err *err)
{
	int64_t now_s = now_unix_ms / 1000, end_s = now_s + valid_s;
	X509 *issuer = read_cert(ca->cert_pem), *cert = NULL;
	EVP_PKEY *issuer_key = read_key(ca->key_pem), *key = NULL;
	int result = check_names(dns_names, err);

	if (result == 0 && (!issuer || !issuer_key || X509_check_private_key(issuer, issuer_key) != 1)) {
		result = fail_openssl(err, "serving certificate: the CA's certificate and key");
	} else if (result == 0) {
		/* a certificate that outlives its CA is invalid from then on */
		if (end_s > unix_s(X509_get0_notAfter(issuer)))
			end_s = unix_s(X509_get0_notAfter(issuer));
		key = EVP_EC_gen("P-256");
		cert = key ? new_cert(key, dns_names[0], now_s - X509_BACKDATE_S, end_s) : NULL;
		if (!cert || X509_set_issuer_name(cert, X509_get_subject_name(issuer)) != 1 ||
			add_extensions(cert, issuer, serving_extensions) < 0 || add_alt_names(cert, dns_names) < 0 ||
			X509_sign(cert, issuer_key, EVP_sha256()) == 0 || write_pair(cert, key, out) < 0)
			result = fail_openssl(err, "making a serving certificate");
	}
	X509_free(cert);
	X509_free(issuer);
	EVP_PKEY_free(key);
	EVP_PKEY_free(issuer_key);
	return result;
}

/* ---- Reading ---- */

void x509_common_name(X509 *cert, char *out, size_t size)
{
	const X509_NAME *name = X509_get_subject_name(cert);
	int last = -1, at;
	unsigned char *text = NULL;
	int len;

	out[0] = '\0';
	/*
	 * The last of several, like Go's crypto/x509, so that we and the API server see the same
	 * name.
	 */
	while ((at = X509_NAME_get_index_by_NID(name, NID_commonName, last)) >= 0)
		last = at;
	if (last < 0)
		return;
	len = ASN1_STRING_to_UTF8(&text, X509_NAME_ENTRY_get_data(X509_NAME_get_entry(name, last)));
	/* Never a truncated name: it could be another user's. */
	if (len > 0 && (size_t)len < size && !memchr(text, '\0', (size_t)len)) {
		memcpy(out, text, (size_t)len);
		out[len] = '\0';
	}
	OPENSSL_free(text);
}

int x509_read(const char *cert_pem, struct x509_facts *out, struct err *err)
{
	X509 *cert = read_cert(cert_pem);

	if (!cert)
		return fail_openssl(err, "certificate");
	out->not_before_unix_ms = unix_s(X509_get0_notBefore(cert)) * 1000;
	out->not_after_unix_ms = unix_s(X509_get0_notAfter(cert)) * 1000;
	x509_common_name(cert, out->subject_cn, sizeof(out->subject_cn));
	X509_free(cert);
	return 0;
}

static bool names(X509 *cert, const char *text)
{
	unsigned char address[16];

	if (ip_literal(text, address))
		return X509_check_ip_asc(cert, text, 0) == 1;
	return X509_check_host(cert, text, 0, X509_CHECK_FLAG_NEVER_CHECK_SUBJECT, NULL) == 1;
}

static bool cert_fits(X509 *cert, EVP_PKEY *key, X509 *ca, const char *const *dns_names, char *why, size_t why_size)
{
	if (!cert || !key || !ca) {
		snprintf(why, why_size, "the %s cannot be read",
			!ca             ? "CA certificate"
				: !cert ? "certificate"
					: "private key");
		return false;
	}
	if (X509_check_private_key(cert, key) != 1) {
		snprintf(why, why_size, "the private key does not fit the certificate");
		return false;
	}
	if (X509_verify(cert, X509_get0_pubkey(ca)) != 1) {
		snprintf(why, why_size, "the certificate is not signed by the CA");
		return false;
	}
	for (size_t i = 0; dns_names && dns_names[i]; i++) {
		if (!names(cert, dns_names[i])) {
			snprintf(why, why_size, "the certificate does not name %s", dns_names[i]);
			return false;
		}
	}
	return true;
}

bool x509_fits(const char *cert_pem, const char *key_pem, const char *ca_pem, const char *const *dns_names, char *why,
	size_t why_size)
{
	char unwanted[1];
	X509 *cert = read_cert(cert_pem), *ca = read_cert(ca_pem);
	EVP_PKEY *key = read_key(key_pem);
	bool result = cert_fits(cert, key, ca, dns_names, why ? why : unwanted, why ? why_size : sizeof(unwanted));

	X509_free(cert);
	X509_free(ca);
	EVP_PKEY_free(key);
	ERR_clear_error();
	return result;
}

/* Whether the name constraints are byte for byte those of x509_make_ca. */
static bool has_name_constraints(const X509 *ca, const char *const *dns_names)
{
	int at = X509_get_ext_by_NID(ca, NID_name_constraints, -1);
	X509_EXTENSION *has = at < 0 ? NULL : X509_get_ext(ca, at),
		       *wanted = has ? new_name_constraints(dns_names) : NULL;
	bool same = wanted && X509_EXTENSION_get_critical(has) &&
		ASN1_OCTET_STRING_cmp(X509_EXTENSION_get_data(has), X509_EXTENSION_get_data(wanted)) == 0;

	X509_EXTENSION_free(wanted);
	return same;
}

bool x509_ca_is_confined(const char *ca_pem, const char *const *dns_names)
{
	X509 *ca = read_cert(ca_pem);
	bool result = ca && X509_check_ca(ca) == 1 && X509_get_pathlen(ca) == 0 &&
		X509_get_key_usage(ca) == (KU_KEY_CERT_SIGN | KU_CRL_SIGN) &&
		X509_get_extended_key_usage(ca) == XKU_SSL_SERVER && has_name_constraints(ca, dns_names);

	X509_free(ca);
	ERR_clear_error();
	return result;
}

/* ---- Verifying ---- */

size_t x509_add_pem(X509_STORE *store, BIO *bio, size_t most)
{
	X509 *cert;
	size_t count = 0;

	while (count <= most && (cert = x509_next(bio))) {
		if (count++ < most)
			X509_STORE_add_cert(store, cert);
		X509_free(cert);
	}
	BIO_free(bio);
	ERR_clear_error(); /* the end of the text is an error: "no start line" */
	return count;
}

size_t x509_count_pem(const char *pem, size_t most)
{
	static const char begin[] = "-----BEGIN ";
	size_t count = 0;

	for (; pem && count < most && (pem = strstr(pem, begin)); pem += strlen(begin))
		count++;
	return count;
}

int x509_thumbprint(const char *pem, uint8_t out[X509_THUMBPRINT], struct err *err)
{
	BIO *bio = BIO_new_mem_buf(pem, -1);
	X509 *cert = x509_next(bio);
	bool ok = cert && X509_digest(cert, EVP_sha256(), out, NULL) == 1;

	X509_free(cert);
	BIO_free(bio);
	ERR_clear_error();
	return ok ? 0 : err_set(err, ERR_INVALID, "there is no PEM text of a certificate in it");
}

X509_STORE *x509_store_from_pem(const char *pem, struct err *err)
{
	X509_STORE *store = X509_STORE_new();

	if (x509_add_pem(store, BIO_new_mem_buf(pem ? pem : "", -1), SIZE_MAX - 1) == 0) {
		err_set(err, ERR_INVALID, "CA bundle: no PEM certificate in it");
		X509_STORE_free(store);
		return NULL;
	}
	/* A given intermediate is trusted as a root, as by the API server. */
	X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
	return store;
}

int x509_verify_client(X509_STORE *roots, X509 *leaf, struct stack_st_X509 *chain, struct err *err)
{
	X509_STORE_CTX *ctx = X509_STORE_CTX_new();
	char cn[256];
	int result = -1;

	if (ctx && X509_STORE_CTX_init(ctx, roots, leaf, chain) == 1 &&
		X509_STORE_CTX_set_default(ctx, "ssl_client") == 1 && X509_verify_cert(ctx) == 1) {
		result = 0;
	} else {
		x509_common_name(leaf, cn, sizeof(cn));
		err_set(err, ERR_DENIED, "client certificate \"%s\": %s", cn,
			X509_verify_cert_error_string(ctx ? X509_STORE_CTX_get_error(ctx) : X509_V_ERR_OUT_OF_MEM));
	}
	X509_STORE_CTX_free(ctx);
	ERR_clear_error();
	return result;
}
