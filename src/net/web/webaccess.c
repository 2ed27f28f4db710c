/* SPDX-License-Identifier: Apache-2.0 */
#include "net/web/webaccess.h"

#include <stdlib.h>
#include <string.h>

#include "base/echo.h"
#include "base/fingerprint.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/tls/tls.h"
#include "net/tls/tlsroots.h"

struct webaccess {
	int refs;
	struct webaccess_config config; /* its texts are owned */
	char key[FINGERPRINT_TEXT + 32];
	struct sigv4_day day; /* signing key of the credential with this serial; a secret */
	uint64_t day_serial;
};

/* How each text is used: a table, so that copying, hashing and wiping miss none. */
enum {
	TRUST = 1,      /* how the server is trusted */
	CLIENT_TLS = 2, /* our client certificate */
	HEADER = 8,     /* sent in a header: one line */
	SENT = 16,      /* a secret that is sent to the server */
};
static const struct {
	size_t offset;
	unsigned use;
	const char *name; /* in messages */
} texts[] = {
#define AT(member) offsetof(struct webaccess_config, member)
	{ AT(bearer), HEADER | SENT, "the bearer token" },
	{ AT(username), 0, "the user name" },
	{ AT(password), SENT, "the password" },
	{ AT(header_name), HEADER, "the header's name" },
	{ AT(header_value), HEADER | SENT, "the header's value" },
	{ AT(query_name), 0, "the parameter's name" },
	{ AT(query_value), SENT, "the parameter's value" },
	{ AT(region), HEADER, "the AWS region" },
	{ AT(service), HEADER, "the AWS service" },
	{ AT(ca_pem), TRUST, "the CA" },
	{ AT(cert_pem), CLIENT_TLS, "the client certificate" },
	{ AT(key_pem), CLIENT_TLS, "the client key" },
#undef AT
};
#define TEXTS MEM_COUNT(texts)

static const char **text_at(const struct webaccess_config *config, size_t i)
{
	return (const char **)((uintptr_t)config + texts[i].offset);
}

static void make_keys(struct webaccess *a)
{
	const char *all[TEXTS + 2] = { NULL };
	char fingerprint[FINGERPRINT_TEXT];
	bool any = false;

	for (size_t i = 0; i < TEXTS; i++) {
		all[i] = *text_at(&a->config, i);
		any = any || all[i];
	}
	all[TEXTS] = a->config.insecure ? "insecure" : NULL;
	all[TEXTS + 1] = a->config.identity ? identity_key(a->config.identity) : NULL;
	if (!any && !all[TEXTS] && !all[TEXTS + 1])
		strcpy(a->key, "open");
	else
		strcpy(a->key, fingerprint_of(all, TEXTS + 2, fingerprint));
}

static struct webaccess *copy(const struct webaccess_config *config, unsigned uses, bool all)
{
	struct webaccess *a = mem_zalloc(sizeof(*a));

	a->refs = 1;
	a->config.insecure = config->insecure;
	a->config.operators = config->operators;
	for (size_t i = 0; i < TEXTS; i++) {
		const char *text = *text_at(config, i);

		if (text && *text && (all || texts[i].use & uses))
			*text_at(&a->config, i) = mem_dup(text);
	}
	if (a->config.ca_pem && !config->operators)
		a->config.roots = config->roots ? tlsroots_ref(config->roots) : tlsroots_get(config->ca_pem);
	if (all)
		a->config.identity = identity_ref(config->identity);
	make_keys(a);
	return a;
}

static int check(const struct webaccess_config *config, struct err *err)
{
	const struct tls_client_config tls = {
		.ca_pem = config->ca_pem,
		.roots = config->roots,
		.cert_pem = config->cert_pem,
		.key_pem = config->key_pem,
		.insecure = config->insecure,
	};

	for (size_t i = 0; i < TEXTS; i++) {
		const char *text = *text_at(config, i);

		for (const char *c = text; texts[i].use & HEADER && c && *c; c++)
			if ((unsigned char)*c < ' ' || *c == 0x7f)
				return err_set(err, ERR_INVALID, "%s holds a line break or another control character",
					texts[i].name);
	}
	if (config->header_name && config->header_name[strcspn(config->header_name, " \t:")] != '\0')
		return err_set(err, ERR_INVALID, "the header's name holds a blank or a colon");
	if (config->username && strchr(config->username, ':'))
		return err_set(err, ERR_INVALID,
			"the user name holds a colon, which Basic authentication cannot carry");
	return tls_client_check(&tls, err);
}

struct webaccess *webaccess_new(const struct webaccess_config *config, struct err *err)
{
	struct webaccess *a = copy(config, 0, true);

	if (check(&a->config, err) < 0) {
		webaccess_unref(a);
		return NULL;
	}
	return a;
}

struct webaccess *webaccess_for_identity(const struct identity *i)
{
	const struct identity_trust *trust = identity_trust(i);
	const struct webaccess_config config = { .ca_pem = trust->ca_pem,
		.roots = trust->roots,
		.cert_pem = trust->cert_pem,
		.key_pem = trust->key_pem,
		.insecure = trust->insecure };

	return copy(&config, 0, true);
}

struct webaccess *webaccess_for_operator(const char *ca_pem, bool insecure)
{
	const struct webaccess_config config = { .ca_pem = ca_pem, .insecure = insecure, .operators = true };

	return copy(&config, 0, true);
}

struct webaccess *webaccess_without_credentials(const struct webaccess *a)
{
	return a ? copy(&a->config, TRUST, false) : NULL;
}

struct webaccess *webaccess_ref(struct webaccess *a)
{
	if (a)
		a->refs++;
	return a;
}

void webaccess_unref(struct webaccess *a)
{
	if (!a || --a->refs > 0)
		return;
	for (size_t i = 0; i < TEXTS; i++)
		mem_free_secret((char *)(uintptr_t)*text_at(&a->config, i));
	tlsroots_unref(a->config.roots);
	identity_unref(a->config.identity);
	mem_wipe(&a->day, sizeof(a->day));
	free(a);
}

const char *webaccess_key(const struct webaccess *a)
{
	return a ? a->key : "open";
}

bool webaccess_echoes_secret(const struct webaccess *a, const char *words, const char *answer)
{
	for (size_t i = 0; a && i < TEXTS; i++) {
		const char *text = *text_at(&a->config, i);

		if (texts[i].use & SENT && echo_shows(words, answer, text))
			return true;
	}
	return a && a->config.identity && identity_echoes_secret(a->config.identity, words, answer);
}

/* Skips our own prefix. */
static const char *words_of_server(const char *words)
{
	static const char ours[] = "HTTP status ";

	return text_begins(words, ours) ? words + strlen(ours) : words;
}

static bool echoes(const struct webaccess *a, const struct webresponse *response, const char *words, const char *source)
{
	return webaccess_echoes_secret(a, words, source) ||
		(response->credential && credential_echoes_secret(response->credential, words, source));
}

bool webaccess_must_hide(const struct webaccess *a, const struct webresponse *response, const char *words)
{
	words = words_of_server(words);
	for (size_t i = 0; i < WEBRESPONSE_WANTED_MAX; i++)
		if (response->wanted[i] && echoes(a, response, words, response->wanted[i]))
			return true;
	return echoes(a, response, words, response->body) || echoes(a, response, words, response->content_type);
}

const struct webaccess_config *webaccess_config(const struct webaccess *a)
{
	return a ? &a->config : NULL;
}

struct sigv4_day *webaccess_signing_day(struct webaccess *a, uint64_t serial)
{
	if (a->day_serial != serial)
		mem_wipe(&a->day, sizeof(a->day));
	a->day_serial = serial;
	return &a->day;
}

struct identity *webaccess_identity(const struct webaccess *a)
{
	return a ? a->config.identity : NULL;
}
