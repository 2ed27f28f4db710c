/* SPDX-License-Identifier: Apache-2.0 */
#include "net/identity/githubapp.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "net/identity/identity_parts.h"
#include "net/sign/jwt.h"
#include "net/tls/tls.h"

enum { API_URL, APPLICATION, INSTALLATION, KEY, PERMISSIONS };

/*
 * GitHub refuses tokens that begin in the future or last longer than ten minutes: leave a minute
 * for clock skew either way.
 */
#define BEGINS_S    (-60)
#define ENDS_S      540
#define LIFE_MAX_MS ((int64_t)24 * 3600 * 1000)
/* Bytes of GitHub's message in an error. */
#define WORDS 160

static char *sign(const struct identity_exchange *x, struct err *err)
{
	json_t *claims = json_pack("{sI sI ss}", "iat", (json_int_t)(x->unix_ms / 1000 + BEGINS_S), "exp",
		(json_int_t)(x->unix_ms / 1000 + ENDS_S), "iss", identity_text(x->identity, APPLICATION));
	char *token = jwt_sign(JWT_RS256, NULL, claims, identity_text(x->identity, KEY), err);

	json_decref(claims);
	return token;
}

static enum exchange_verdict githubapp_next(struct identity_exchange *x, struct webrequest *out, struct credential *got,
	struct err *err)
{
	char *token = sign(x, err), *line;

	(void)got;
	if (!token)
		return EXCHANGE_FAILED;
	line = mem_printf("Bearer %s", token);
	strmap_set(&out->headers, "Authorization", line);
	strmap_set(&out->headers, "Accept", "application/vnd.github+json");
	strmap_set(&out->headers, "X-GitHub-Api-Version", "2022-11-28");
	mem_free_secret(line);
	mem_free_secret(x->saved);
	x->saved = token;
	out->url = mem_printf("%s/app/installations/%s/access_tokens", identity_text(x->identity, API_URL),
		identity_text(x->identity, INSTALLATION));
	out->body = mem_printf("{\"permissions\":%s}", identity_text(x->identity, PERMISSIONS));
	out->content_type = "application/json";
	return EXCHANGE_SEND;
}

/* GitHub's message, unless it repeats the token that was sent, or its signature. */
static void words_of(const struct identity_exchange *x, const json_t *answer, char out[WORDS])
{
	const char *message = json_str_or_empty(answer, "message");
	const char *signature = x->saved ? strrchr(x->saved, '.') : NULL;

	text_line(message, strlen(message), out, WORDS);
	if (signature && (strcasestr(message, x->saved) || strcasestr(message, signature + 1)))
		*out = '\0';
}

static int64_t life_of(const json_t *answer, int64_t now_ms)
{
	int64_t end_ms, life_ms;

	if (timestamp_parse(json_str_or_empty(answer, "expires_at"), &end_ms, NULL))
		return 0;
	life_ms = end_ms - now_ms;
	return life_ms <= 0 ? -1 : life_ms < LIFE_MAX_MS ? life_ms : LIFE_MAX_MS;
}

static enum exchange_verdict githubapp_read(struct identity_exchange *x, const struct webresponse *answer,
	struct credential *got, struct err *err)
{
	json_t *value = answer->status ? json_parse_foreign(answer->body, answer->len, NULL) : NULL;
	const char *token = json_str_or_empty(value, "token");
	int64_t life_ms = life_of(value, x->unix_ms);
	int rc = -1;
	char words[WORDS];

	words_of(x, value, words);
	if (answer->status < 200 || answer->status > 299) {
		identity_refused(answer, "no token for the installation", words, err);
	} else if (!identity_is_token(token)) {
		err_set(err, ERR_INVALID, "no token: the answer has no valid token");
	} else if (life_ms < 0) {
		err_set(err, ERR_INVALID, "no token: it has expired already: check this machine's clock");
	} else {
		got->token = mem_dup(token);
		got->life_ms = life_ms;
		rc = 0;
	}
	json_decref(value);
	return rc;
}

static const struct identity_kind githubapp = { .name = "github app",
	.label = "GitHub App token",
	.early_ms = 300000,
	.next = githubapp_next,
	.read = githubapp_read };

struct identity *githubapp_new(const struct githubapp_config *config, struct err *err)
{
	const struct identity_config c = { .kind = &githubapp,
		.texts = { [API_URL] = config->api_url,
			[APPLICATION] = config->application,
			[INSTALLATION] = config->installation,
			[KEY] = config->key_pem,
			[PERMISSIONS] = config->permissions },
		.trust = config->trust };
	const struct tls_client_config tls = { .ca_pem = config->trust.ca_pem,
		.cert_pem = config->trust.cert_pem,
		.key_pem = config->trust.key_pem,
		.insecure = config->trust.insecure };

	return tls_client_check(&tls, err) || jwt_check_key(config->key_pem, err) ? NULL : identity_new(&c);
}
