/* SPDX-License-Identifier: Apache-2.0 */
#include "net/identity/entra.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"
#include "net/http/httpurl.h"
#include "net/identity/entracert.h"
#include "net/identity/identity_parts.h"
#include "net/identity/oauthreply.h"

#define AUTHORITY "https://login.microsoftonline.com"
#define ASSERTION "urn:ietf:params:oauth:client-assertion-type:jwt-bearer"

/* Environment variables. */
#define FEDERATED_TOKEN      "AZURE_FEDERATED_TOKEN_FILE"
#define CERTIFICATE          "AZURE_CLIENT_CERTIFICATE_PATH"
#define CERTIFICATE_PASSWORD "AZURE_CLIENT_CERTIFICATE_PASSWORD"

enum { AUTHORITY_HOST, TENANT, CLIENT_ID, SECRET, SCOPE };

static const char *const microsofts[] = { "login.microsoftonline.com", "login.microsoftonline.us",
	"login.chinacloudapi.cn", "login.partner.microsoftonline.cn", NULL };

/* The object's value; for kscaled's own identity, the environment's if the object has none. */
static const char *config(const struct identity_exchange *x, size_t which, const char *variable)
{
	const char *text = identity_text(x->identity, which);

	return text || !identity_is_own(x->identity) ? text : identity_env(x, variable);
}

static bool is_tenant(const char *text)
{
	return *text && strlen(text) <= 255 &&
		strspn(text, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.-") == strlen(text) &&
		!strstr(text, "..") && *text != '.';
}

static char *sign_by_certificate(const struct identity_exchange *x, const char *client_id, const char *audience,
	struct err *err)
{
	char *pem = identity_file_text(x, CERTIFICATE, err), *assertion;

	if (!pem)
		return NULL;
	assertion = entracert_assertion(pem, identity_env(x, CERTIFICATE_PASSWORD), client_id, audience, x->unix_ms,
		err);
	if (!assertion)
		err_wrap(err, "the file that %s names, which must hold a certificate and its RSA key in PEM",
			CERTIFICATE);
	mem_free_secret(pem);
	return assertion;
}

/* The environment's proof of kscaled's own identity, a secret; NULL with err. */
static char *make_assertion(const struct identity_exchange *x, const char *client_id, const char *audience,
	struct err *err)
{
	if (identity_env(x, CERTIFICATE))
		return sign_by_certificate(x, client_id, audience, err);
	if (identity_env(x, FEDERATED_TOKEN))
		return identity_file(x, FEDERATED_TOKEN, err);
	err_set(err, ERR_INVALID,
		"kscaled has no Azure identity of its own: its environment has neither " FEDERATED_TOKEN
		" nor " CERTIFICATE " nor AZURE_CLIENT_SECRET");
	return NULL;
}

static enum exchange_verdict post(const struct identity_exchange *x, const char *client_id, const char *url,
	struct webrequest *out, struct err *err)
{
	const char *secret = identity_is_own(x->identity) ? identity_env(x, "AZURE_CLIENT_SECRET")
							  : identity_text(x->identity, SECRET);
	char *assertion = secret ? NULL : make_assertion(x, client_id, url, err);
	const struct identity_field fields[] = { { "client_id", client_id }, { "grant_type", "client_credentials" },
		{ "scope", identity_text(x->identity, SCOPE) }, { "client_secret", secret },
		{ "client_assertion_type", assertion ? ASSERTION : NULL }, { "client_assertion", assertion },
		{ NULL, NULL } };

	if (!secret && !assertion)
		return EXCHANGE_FAILED;
	identity_post_form(out, url, fields);
	mem_free_secret(assertion);
	return EXCHANGE_SEND;
}

static enum exchange_verdict entra_next(struct identity_exchange *x, struct webrequest *out, struct credential *got,
	struct err *err)
{
	const char *tenant = config(x, TENANT, "AZURE_TENANT_ID"), *client_id = config(x, CLIENT_ID, "AZURE_CLIENT_ID");
	const char *authority = config(x, AUTHORITY_HOST, "AZURE_AUTHORITY_HOST");
	size_t len = strlen(authority ? authority : AUTHORITY);
	MEM_AUTO char *url = NULL;

	(void)got;
	if (!tenant)
		return err_set(err, ERR_INVALID, "the tenant id is missing");
	if (!is_tenant(tenant))
		return err_set(err, ERR_INVALID, "the tenant id is invalid: it is a GUID or the name of a domain");
	if (!client_id)
		return err_set(err, ERR_INVALID, "the client id is missing");
	while (authority && len > 0 && authority[len - 1] == '/')
		len--;
	url = mem_printf("%.*s/%s/oauth2/v2.0/token", (int)len, authority ? authority : AUTHORITY, tenant);
	return post(x, client_id, url, out, err);
}

static enum exchange_verdict entra_read(struct identity_exchange *x, const struct webresponse *answer,
	struct credential *got, struct err *err)
{
	(void)x;
	return oauthreply_read(answer, got, err);
}

static const struct identity_kind entra = { .name = "entra",
	.label = "Entra ID token",
	.early_ms = 300000,
	.next = entra_next,
	.read = entra_read };

/* kscaled's own proofs go to Microsoft's servers only, over TLS. */
static int check_authority(const char *authority, bool own, struct err *err)
{
	struct httpurl_place place;
	bool known;

	if (httpurl_place(authority, &place, err))
		return err_wrap(err, "the authority host");
	known = !own ||
		(strcmp(place.scheme, "https") == 0 && place.port == 443 && text_is_one_of(place.host, microsofts));
	httpurl_place_done(&place);
	return known
		? 0
		: err_set(err, ERR_INVALID,
			  "the authority host is not one of Microsoft's, and kscaled shows its own token to no other; "
			  "an administrator can set one with AZURE_AUTHORITY_HOST");
}

/* secret NULL: kscaled's own. */
static struct identity *make(const struct entra_config *config, const char *secret, struct err *err)
{
	const struct identity_config c = { .kind = &entra,
		.texts = { [AUTHORITY_HOST] = config->authority,
			[TENANT] = config->tenant,
			[CLIENT_ID] = config->client_id,
			[SECRET] = secret,
			[SCOPE] = config->scope },
		.own = !secret };

	if (config->tenant && *config->tenant && !is_tenant(config->tenant)) {
		err_set(err, ERR_INVALID, "the tenant id \"%.100s\" is invalid: it is a GUID or the name of a domain",
			config->tenant);
		return NULL;
	}
	if (config->authority && *config->authority && check_authority(config->authority, c.own, err))
		return NULL;
	return identity_new(&c);
}

struct identity *entra_own_new(const struct entra_config *config, struct err *err)
{
	return make(config, NULL, err);
}

struct identity *entra_app_new(const struct entra_config *config, const char *secret, struct err *err)
{
	if (secret && *secret)
		return make(config, secret, err);
	err_set(err, ERR_INVALID, "the client secret is empty");
	return NULL;
}
