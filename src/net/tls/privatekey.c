/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls/privatekey.h"

#include <openssl/asn1t.h>
#include <openssl/core_names.h>
#include <openssl/err.h>
#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/pkcs12.h>
#include <openssl/x509.h>
#include <stdbool.h>
#include <string.h>

#include "base/fingerprint.h"
#include "base/mem.h"
#include "net/tls/computing.h"

#define DER_MAX           16384 /* RSA of 4,096 bits has 2,400 */
#define PASSWORD_MAX      1024  /* OpenSSL's own limit */
#define EXPONENT_BITS_MAX 32    /* Go's limit, too; 65,537 has 17 */
#define REMEMBERED        64

/* ---- What decrypting costs ---- */

/* A number beyond the bound becomes 0, which is never accepted. */
static uint64_t small(const ASN1_INTEGER *number)
{
	uint64_t n;

	return number && ASN1_INTEGER_get_uint64(&n, number) == 1 && n <= PRIVATEKEY_ROUNDS_MAX ? n : 0;
}

static uint64_t pbkdf2_rounds(const ASN1_TYPE *given)
{
	PBKDF2PARAM *p = ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBKDF2PARAM), given);
	uint64_t rounds = p ? small(p->iter) : 0;

	PBKDF2PARAM_free(p);
	return rounds;
}

static uint64_t scrypt_rounds(const ASN1_TYPE *given)
{
	SCRYPT_PARAMS *p = ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(SCRYPT_PARAMS), given);
	uint64_t blocks = p ? small(p->costParameter) * small(p->blockSize) : 0,
		 parallel = p ? small(p->parallelizationParameter) : 0;

	SCRYPT_PARAMS_free(p);
	return blocks <= PRIVATEKEY_ROUNDS_MAX ? blocks * parallel : 0;
}

static uint64_t pbes2_rounds(const ASN1_TYPE *given)
{
	PBE2PARAM *p = ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBE2PARAM), given);
	int kind = p ? OBJ_obj2nid(p->keyfunc->algorithm) : NID_undef;
	uint64_t rounds = kind == NID_id_pbkdf2 ? pbkdf2_rounds(p->keyfunc->parameter)
		: kind == NID_id_scrypt         ? scrypt_rounds(p->keyfunc->parameter)
						: 0;

	PBE2PARAM_free(p);
	return rounds;
}

/* PBES1 and PKCS#12's scheme; without a number it is one round. */
static uint64_t pbe_rounds(const ASN1_TYPE *given)
{
	PBEPARAM *p = ASN1_TYPE_unpack_sequence(ASN1_ITEM_rptr(PBEPARAM), given);
	uint64_t rounds = !p ? 0 : p->iter ? small(p->iter) : 1;

	PBEPARAM_free(p);
	return rounds;
}

/* 0: more than accepted, or unknown. */
static uint64_t rounds_of(const X509_SIG *locked)
{
	const X509_ALGOR *how;
	const ASN1_OBJECT *kind;
	uint64_t rounds;

	X509_SIG_get0(locked, &how, NULL);
	X509_ALGOR_get0(&kind, NULL, NULL, how);
	rounds = OBJ_obj2nid(kind) == NID_pbes2 ? pbes2_rounds(how->parameter) : pbe_rounds(how->parameter);
	return rounds <= PRIVATEKEY_ROUNDS_MAX ? rounds : 0;
}

/* ---- What using it costs ---- */

/* The bit length of a number of the key; 0: absent. */
static int bits_of(const EVP_PKEY *key, const char *number)
{
	BIGNUM *n = NULL;
	int bits = EVP_PKEY_get_bn_param(key, number, &n) == 1 ? BN_num_bits(n) : 0;

	BN_clear_free(n);
	return bits;
}

/*
 * OpenSSL calculates with whatever numbers the text has, so each must have the size it has in
 * honest keys: two primes of equal length, and what belongs to them.
 */
static bool is_bounded_rsa(const EVP_PKEY *key)
{
	static const char *const halves[] = { OSSL_PKEY_PARAM_RSA_FACTOR1, OSSL_PKEY_PARAM_RSA_FACTOR2,
		OSSL_PKEY_PARAM_RSA_EXPONENT1, OSSL_PKEY_PARAM_RSA_EXPONENT2, OSSL_PKEY_PARAM_RSA_COEFFICIENT1 };
	int bits = bits_of(key, OSSL_PKEY_PARAM_RSA_N);

	if (bits > PRIVATEKEY_BITS_MAX || bits_of(key, OSSL_PKEY_PARAM_RSA_E) > EXPONENT_BITS_MAX ||
		bits_of(key, OSSL_PKEY_PARAM_RSA_D) > bits || bits_of(key, OSSL_PKEY_PARAM_RSA_FACTOR3) > 0)
		return false;
	for (size_t i = 0; i < MEM_COUNT(halves); i++) {
		int half = bits_of(key, halves[i]);

		if (half == 0 || half > (bits + 1) / 2 + 1)
			return false;
	}
	return true;
}

/* "" if the curve is described instead of named. */
static bool has_named_curve(const EVP_PKEY *key)
{
	char name[64], encoding[32];
	size_t len;

	return EVP_PKEY_get_group_name(key, name, sizeof(name), &len) == 1 &&
		EVP_PKEY_get_utf8_string_param(key, OSSL_PKEY_PARAM_EC_ENCODING, encoding, sizeof(encoding), &len) ==
		1 &&
		strcmp(encoding, OSSL_PKEY_EC_ENCODING_GROUP) == 0;
}

static int check_cost(const EVP_PKEY *key, struct err *err)
{
	switch (EVP_PKEY_get_base_id(key)) {
	case EVP_PKEY_RSA:
	case EVP_PKEY_RSA_PSS:
		return is_bounded_rsa(key) ? 0
					   : err_set(err, ERR_INVALID,
						     "private key: an RSA key may have up to %d bits, two primes of "
						     "half as many, and a public "
						     "exponent of %d bits; make another one",
						     PRIVATEKEY_BITS_MAX, EXPONENT_BITS_MAX);
	case EVP_PKEY_EC:
		return has_named_curve(key)
			? 0
			: err_set(err, ERR_INVALID,
				  "private key: its curve is described by parameters instead of its name; convert it "
				  "with \"openssl pkey -ec_param_enc named_curve\"");
	case EVP_PKEY_ED25519:
	case EVP_PKEY_ED448: return 0;
	default:
		return err_set(err, ERR_INVALID,
			"private key: it is neither RSA nor ECDSA, Ed25519 or Ed448, which are what TLS uses");
	}
}

/* ---- Reading a text ---- */

struct pem_block {
	char *name, *header; /* OpenSSL's */
	unsigned char *der;
	long len;
};

static void block_done(struct pem_block *b)
{
	OPENSSL_free(b->name);
	OPENSSL_free(b->header);
	OPENSSL_clear_free(b->der, (size_t)b->len);
	*b = (struct pem_block){ 0 };
}

/* The first block labelled as a private key; certificates and parameters are skipped. */
static bool find_block(const char *pem, struct pem_block *b)
{
	static const char label[] = "PRIVATE KEY";
	BIO *bio = BIO_new_mem_buf(pem, -1);
	size_t len;

	*b = (struct pem_block){ 0 };
	while (PEM_read_bio(bio, &b->name, &b->header, &b->der, &b->len) == 1) {
		len = strlen(b->name);
		if (len >= strlen(label) && strcmp(b->name + len - strlen(label), label) == 0)
			break;
		block_done(b);
	}
	BIO_free(bio);
	return b->name;
}

static bool is_encrypted(const struct pem_block *b)
{
	return strcmp(b->name, PEM_STRING_PKCS8) == 0 || strstr(b->header, "ENCRYPTED");
}

static EVP_PKEY *take(PKCS8_PRIV_KEY_INFO *info)
{
	EVP_PKEY *key = info ? EVP_PKCS82PKEY(info) : NULL;

	PKCS8_PRIV_KEY_INFO_free(info);
	return key;
}

static EVP_PKEY *parse(const struct pem_block *b)
{
	const unsigned char *at = b->der;

	if (strcmp(b->name, PEM_STRING_RSA) == 0)
		return d2i_PrivateKey(EVP_PKEY_RSA, NULL, &at, b->len);
	if (strcmp(b->name, PEM_STRING_ECPRIVATEKEY) == 0)
		return d2i_PrivateKey(EVP_PKEY_EC, NULL, &at, b->len);
	return strcmp(b->name, PEM_STRING_PKCS8INF) == 0 ? take(d2i_PKCS8_PRIV_KEY_INFO(NULL, &at, b->len)) : NULL;
}

static int give_password(char *out, int size, int writing, void *password)
{
	size_t len = strlen(password);

	(void)writing;
	if (len > (size_t)size)
		return -1;
	memcpy(out, password, len);
	return (int)len;
}

/* The older form, whose key is derived in one round. */
static EVP_PKEY *unlock_old(struct pem_block *b, const char *password)
{
	EVP_CIPHER_INFO cipher;

	if (PEM_get_EVP_CIPHER_INFO(b->header, &cipher) != 1 ||
		PEM_do_header(&cipher, b->der, &b->len, give_password, (void *)(uintptr_t)password) != 1)
		return NULL;
	return parse(b);
}

static EVP_PKEY *unlock_pkcs8(const struct pem_block *b, const char *password, struct err *err)
{
	const unsigned char *at = b->der;
	X509_SIG *locked = d2i_X509_SIG(NULL, &at, b->len);
	uint64_t rounds = locked ? rounds_of(locked) : 0;
	EVP_PKEY *key = NULL;

	if (rounds == 0)
		err_set(err, ERR_INVALID,
			"private key: it is encrypted with more than %d rounds, or in an unknown way; convert it with "
			"\"openssl pkcs8 -topk8\"",
			PRIVATEKEY_ROUNDS_MAX);
	else if (computing_pay(rounds, err) == 0)
		key = take(PKCS8_decrypt(locked, password, (int)strlen(password)));
	X509_SIG_free(locked);
	return key;
}

static EVP_PKEY *unlock(struct pem_block *b, const char *password, struct err *err)
{
	EVP_PKEY *key = strcmp(b->name, PEM_STRING_PKCS8) == 0 ? unlock_pkcs8(b, password, err)
							       : unlock_old(b, password);

	if (!key && err->kind == ERR_NONE)
		err_set(err, ERR_INVALID, "private key: it is encrypted with another password");
	return key;
}

/* ---- Recently decrypted keys ---- */

/*
 * An object's triggers are rebuilt whenever it changes, a thousand of them with the same key.
 * Failures are remembered, too: they cost as much.
 */
static struct remembered {
	char of[FINGERPRINT_TEXT]; /* fingerprint of text and password; "": unused */
	char *plain;               /* NULL: failed, see err */
	struct err *err;
} remembered[REMEMBERED];
static size_t oldest;

static void forget_key(struct remembered *r)
{
	mem_free_secret(r->plain);
	err_keep(&r->err, NULL);
	*r = (struct remembered){ .plain = NULL };
}

void privatekey_forget(void)
{
	for (size_t i = 0; i < REMEMBERED; i++)
		forget_key(&remembered[i]);
}

static struct remembered *recall(const char *of)
{
	for (size_t i = 0; i < REMEMBERED; i++)
		if (strcmp(remembered[i].of, of) == 0)
			return &remembered[i];
	return NULL;
}

char *privatekey_write(EVP_PKEY *key)
{
	BIO *bio = BIO_new(BIO_s_mem());
	char *bytes, *text = NULL;
	long len;

	if (PEM_write_bio_PKCS8PrivateKey(bio, key, NULL, NULL, 0, NULL, NULL) == 1) {
		len = BIO_get_mem_data(bio, &bytes);
		text = mem_dupn(bytes, (size_t)len);
		mem_wipe(bytes, (size_t)len);
	}
	BIO_free(bio);
	return text;
}

static void remember(const char *of, char *plain /* takes */, const struct err *err)
{
	struct remembered *r = &remembered[oldest++ % REMEMBERED];

	forget_key(r);
	memcpy(r->of, of, sizeof(r->of));
	r->plain = plain;
	if (!plain)
		err_keep(&r->err, err);
}

/* NULL, with err: must be tried again later. */
static const struct remembered *unlock_once(struct pem_block *b, const char *pem, const char *password, struct err *err)
{
	char of[FINGERPRINT_TEXT];
	struct err why = { 0 };
	EVP_PKEY *key;

	if (recall(fingerprint_of((const char *const[]){ pem, password }, 2, of)))
		return recall(of);
	key = unlock(b, password, &why);
	if (key || why.kind != ERR_TEMPORARY)
		remember(of, key && check_cost(key, &why) == 0 ? privatekey_write(key) : NULL, &why);
	else if (err)
		*err = why;
	EVP_PKEY_free(key);
	return recall(of);
}

/* ---- The interface ---- */

static EVP_PKEY *read_plain(const struct pem_block *b, struct err *err)
{
	EVP_PKEY *key = parse(b);

	if (!key)
		err_set(err, ERR_INVALID, "private key: it cannot be read");
	if (key && check_cost(key, err) == 0)
		return key;
	EVP_PKEY_free(key);
	return NULL;
}

static EVP_PKEY *read_text(const char *pem, struct err *err)
{
	struct pem_block b;
	EVP_PKEY *key = find_block(pem, &b) ? read_plain(&b, err) : NULL;

	block_done(&b);
	return key;
}

static EVP_PKEY *read_locked(struct pem_block *b, const char *pem, const char *password, struct err *err)
{
	const struct remembered *r;

	if (!password || !*password || strlen(password) > PASSWORD_MAX) {
		err_set(err, ERR_INVALID, "private key: it is encrypted, and %s",
			password && *password ? "the password is too long" : "there is no password");
		return NULL;
	}
	r = unlock_once(b, pem, password, err);
	if (r && r->plain)
		return read_text(r->plain, err);
	if (r && err)
		*err = *r->err;
	return NULL;
}

EVP_PKEY *privatekey_read(const char *pem, const char *password, struct err *err)
{
	struct pem_block b = { 0 };
	EVP_PKEY *key = NULL;

	if (strlen(pem) > PRIVATEKEY_TEXT_MAX)
		err_set(err, ERR_INVALID, "private key: its text has more than %d bytes", PRIVATEKEY_TEXT_MAX);
	else if (!find_block(pem, &b))
		err_set(err, ERR_INVALID, "private key: there is no PEM text of a private key");
	else if (b.len > DER_MAX)
		err_set(err, ERR_INVALID, "private key: it has more than %d bytes", DER_MAX);
	else
		key = is_encrypted(&b) ? read_locked(&b, pem, password, err) : read_plain(&b, err);
	block_done(&b);
	ERR_clear_error();
	return key;
}

char *privatekey_plain(const char *pem, const char *password, struct err *err)
{
	EVP_PKEY *key = privatekey_read(pem, password, err);
	char *text = key ? privatekey_write(key) : NULL;

	if (key && !text)
		err_set(err, ERR_INVALID, "private key: it cannot be written without its password");
	EVP_PKEY_free(key);
	ERR_clear_error();
	return text;
}
