/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Certificates and keys: of Secrets, kubeconfigs and files, and those that a client shows. The
 * first byte says how the rest comes: as it is, or as the DER of a certificate or a key, which are
 * put into PEM. Whatever it is, it is refused in words, or its facts are what one can work with.
 */

#include <openssl/evp.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <string.h>

#include "base/mem.h"
#include "control/certs/certpack.h"
#include "fuzz.h"
#include "net/tls/tls.h"
#include "net/tls/x509.h"

#define NOW_MS   INT64_C(1750000000000)
#define CONTEXTS 0x40 /* in the first byte: for TLS, too, which takes its time */

static const char *const names[] = { "kscaled.kscaled.svc", "10.0.0.1", NULL };

static struct x509_pair ca;
static X509_STORE *roots;

static void set_up(void)
{
	if (roots)
		return;
	must(x509_make_ca("fuzz", names, NOW_MS, 3600, &ca, NULL) == 0);
	roots = x509_store_from_pem(ca.cert_pem, NULL);
	must(roots);
}

/* One line is enough for OpenSSL up to its own limit; the fuzzer keeps to 64 KiB. */
static char *to_pem(const char *label, const uint8_t *der, size_t size)
{
	char *text = mem_alloc(size / 3 * 4 + 5);
	char *pem;

	EVP_EncodeBlock((unsigned char *)text, der, (int)size);
	pem = mem_printf("-----BEGIN %s-----\n%s\n-----END %s-----\n", label, text, label);
	free(text);
	return pem;
}

static void check_client(const uint8_t *der, size_t size)
{
	const unsigned char *at = der;
	X509 *leaf = d2i_X509(NULL, &at, (long)size);
	struct err err = { 0 };
	char cn[256];

	if (!leaf)
		return;
	x509_common_name(leaf, cn, sizeof(cn));
	must(strlen(cn) < sizeof(cn));
	must(x509_verify_client(roots, leaf, NULL, &err) < 0 && err.kind == ERR_DENIED);
	X509_free(leaf);
}

/* Whether it is a certificate. */
static bool check_facts(const char *pem)
{
	struct x509_facts facts;
	struct err err = { 0 };
	X509_STORE *store;
	bool good = x509_read(pem, &facts, &err) == 0;

	if (!good)
		must(err.kind == ERR_INVALID && err.msg[0] != '\0');
	else
		must(strlen(facts.subject_cn) < sizeof(facts.subject_cn));
	store = x509_store_from_pem(pem, &err);
	must(store || err.kind == ERR_INVALID);
	X509_STORE_free(store);
	return good;
}

enum pack { PACK_CERTIFICATE, PACK_KEY, PACK_ALL };

/* As the one or the other text of a Secret, with the rest good; or as all of them. */
static void check_pack(char *pem, enum pack place)
{
	struct certpack packs[] = {
		[PACK_CERTIFICATE] = { .serving = { pem, ca.key_pem }, .ca = ca },
		[PACK_KEY] = { .serving = { ca.cert_pem, pem }, .ca = ca },
		[PACK_ALL] = { .serving = { pem, pem }, .ca = { pem, pem }, .old_ca = pem },
	};

	struct certpack_state state;

	certpack_judge(&packs[place], names, NOW_MS, &state);
	must(state.usable || state.need != CERTPACK_NOTHING);
	must(state.need == CERTPACK_NOTHING || state.why[0] != '\0');
	free(certpack_bundle(&packs[place], NOW_MS));
}

static void check_contexts(const char *pem)
{
	const struct tls_client_config configs[] = {
		{ .ca_pem = pem },
		{ .cert_pem = pem, .key_pem = pem },
		{ .cert_pem = pem, .key_pem = pem, .key_password = "secret" },
		{ .cert_pem = ca.cert_pem, .key_pem = pem },
	};
	struct tls_server *server = tls_server_new(NULL);
	struct err err = { 0 };

	for (size_t i = 0; i < MEM_COUNT(configs); i++) {
		SSL_CTX *ctx = tls_client_context(&configs[i], &err);

		must(ctx || (err.msg[0] != '\0' && !strstr(err.msg, "secret")));
		SSL_CTX_free(ctx);
	}
	must(tls_server_set_certificate(server, pem, pem, &err) == 0 || !tls_server_has_certificate(server));
	tls_server_free(server);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const char *const labels[] = { NULL, "CERTIFICATE", "PRIVATE KEY", "EC PRIVATE KEY", "RSA PRIVATE KEY" };
	const char *label;
	char *pem;

	set_up();
	if (size == 0)
		return 0;
	label = labels[data[0] % (CONTEXTS / 2) % MEM_COUNT(labels)];
	pem = label ? to_pem(label, data + 1, size - 1) : mem_dupn((const char *)data + 1, size - 1);
	check_client(data + 1, size - 1);
	if (check_facts(pem)) {
		check_pack(pem, PACK_CERTIFICATE);
		check_pack(pem, PACK_ALL);
	} else if (strstr(pem, "KEY-----")) {
		check_pack(pem, PACK_KEY);
	}
	if (data[0] & CONTEXTS)
		check_contexts(pem);
	free(pem);
	return 0;
}
