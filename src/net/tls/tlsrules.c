/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls/tlsrules.h"

#include <dirent.h>
#include <errno.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/tls/x509.h"

#define SUBJECT    "tls"
#define SUITES_MAX 4096

static struct {
	int min_version; /* 0: not set */
	char *suites12;  /* OpenSSL's names of suites for TLS 1.2 and before; NULL: its default */
	char *suites13;
	char *ca_dirs;
	bool required;
} rules;

void tlsrules_done(void)
{
	free(rules.suites12);
	free(rules.suites13);
	free(rules.ca_dirs);
	memset(&rules, 0, sizeof(rules));
}

/* ---- Version and suites ---- */

static const struct {
	const char *name;
	int version;
} versions[] = { { "TLS10", TLS1_VERSION }, { "TLS11", TLS1_1_VERSION }, { "TLS12", TLS1_2_VERSION },
	{ "TLS13", TLS1_3_VERSION } };

static char *list_of(struct buf *suites)
{
	char *list = suites->len > 0 ? buf_take(suites) : NULL;

	buf_done(suites);
	return list;
}

static void read_ciphers(const char *text)
{
	MEM_AUTO char *copy = mem_dup(text);
	char *rest = copy, *name;
	struct buf suites12 = BUF_INIT(SUITES_MAX), suites13 = BUF_INIT(SUITES_MAX), *list;

	while ((name = strsep(&rest, ":, \t")) != NULL) {
		const char *own = OPENSSL_cipher_name(name);

		if (!*name)
			continue;
		if (strcmp(own, "(NONE)") == 0) {
			log_warn(SUBJECT, "http-tls-cipher-list: \"%.64s\" is not a known cipher suite; it is ignored",
				name);
			continue;
		}
		/*
		 * Names of TLS 1.3 suites have no key exchange behind TLS_; OpenSSL takes them in a
		 * separate list.
		 */
		list = text_begins(name, "TLS_") && !strstr(name, "_WITH_") ? &suites13 : &suites12;
		buf_printf(list, "%s%s", list->len > 0 ? ":" : "", own);
	}
	rules.suites12 = list_of(&suites12);
	rules.suites13 = list_of(&suites13);
}

int tlsrules_set(const struct tlsrules_config *config, struct err *err)
{
	int version = config->min_version ? 0 : TLS1_2_VERSION;

	for (size_t i = 0; !version && i < MEM_COUNT(versions); i++)
		if (strcmp(versions[i].name, config->min_version) == 0)
			version = versions[i].version;
	if (!version)
		return err_set(err, ERR_INVALID, "\"%.64s\" is not a TLS version: TLS10, TLS11, TLS12 or TLS13",
			config->min_version);
	tlsrules_done();
	rules.min_version = version;
	rules.ca_dirs = mem_dup(config->ca_dirs);
	rules.required = config->required;
	if (config->ciphers)
		read_ciphers(config->ciphers);
	return 0;
}

int tlsrules_demand(bool is_tls, const char *instead, struct err *err)
{
	if (is_tls || !rules.required)
		return 0;
	return err_set(err, ERR_DENIED, "it is not asked without TLS, because kscaled runs with --require-tls: %s",
		instead);
}

void tlsrules_apply(SSL_CTX *ctx)
{
	SSL_CTX_set_min_proto_version(ctx, rules.min_version ? rules.min_version : TLS1_2_VERSION);
	if (rules.suites13)
		SSL_CTX_set_ciphersuites(ctx, rules.suites13);
	/*
	 * OpenSSL gives the signatures of the old versions (MD5 with SHA-1) security level 0, and
	 * would never use them.
	 */
	if (rules.min_version && rules.min_version < TLS1_2_VERSION) {
		SSL_CTX_set_security_level(ctx, 0);
		if (!rules.suites12)
			SSL_CTX_set_cipher_list(ctx, "ECDHE+AESGCM:ECDHE+CHACHA20:ECDHE+AES:RSA+AES");
	}
	if (rules.suites12)
		SSL_CTX_set_cipher_list(ctx, rules.suites12);
	ERR_clear_error();
}

/* ---- Roots ---- */

static void load_path(X509_STORE *store, const char *path)
{
	struct stat st;
	FILE *file;

	if (stat(path, &st) == 0 && !S_ISREG(st.st_mode))
		return;
	file = fopen(path, "re");
	if (!file) {
		log_warn(SUBJECT, "ca-dir: %s: %s", path, strerror(errno));
		return;
	}
	if (x509_add_pem(store, BIO_new_fp(file, BIO_CLOSE), SIZE_MAX - 1) == 0)
		log_warn(SUBJECT, "ca-dir: %s: no PEM certificate in it", path);
}

static void load_folder(X509_STORE *store, const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *entry;

	if (!dir) {
		if (errno != ENOENT || strcmp(path, TLSRULES_CA_DIR) != 0)
			log_warn(SUBJECT, "ca-dir: %s: %s", path, strerror(errno));
		return;
	}
	while ((entry = readdir(dir)) != NULL) {
		MEM_AUTO char *file = mem_printf("%s/%s", path, entry->d_name);

		if (!text_begins(entry->d_name, "..") && strcmp(entry->d_name, ".") != 0)
			load_path(store, file);
	}
	closedir(dir);
}

void tlsrules_load_roots(X509_STORE *store)
{
	MEM_AUTO char *dirs = mem_dup(rules.ca_dirs);
	char *rest = dirs, *dir;

	while ((dir = strsep(&rest, ",")) != NULL)
		if (*dir)
			load_folder(store, dir);
	/* An intermediate there is trusted as a root, as in Go. */
	X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
}
