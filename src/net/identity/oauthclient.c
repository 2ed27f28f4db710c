/* SPDX-License-Identifier: Apache-2.0 */
#include "net/identity/oauthclient.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/mem.h"
#include "net/http/httpurl.h"
#include "net/identity/identity_parts.h"
#include "net/identity/oauthreply.h"
#include "net/tls/tls.h"

#define PAIR_MAX ((size_t)1 << 18)

enum { TOKEN_URL, CLIENT_ID, CLIENT_SECRET, SCOPES, PARAMS };
enum { FIRST_WAY, OTHER_WAY }; /* stages */
enum { IN_FORM = 1 };          /* memory: send id and secret in the form */

/* RFC 6749, 2.3.1: both are form-encoded first. */
static char *basic_value(const struct identity *i)
{
	struct buf pair = BUF_INIT(PAIR_MAX);
	char *encoded, *value;

	buf_reserve(&pair, 4096);
	buf_put_percent(&pair, identity_text(i, CLIENT_ID) ? identity_text(i, CLIENT_ID) : "", "");
	buf_putc(&pair, ':');
	buf_put_percent(&pair, identity_text(i, CLIENT_SECRET) ? identity_text(i, CLIENT_SECRET) : "", "");
	encoded = base64_encode(buf_text(&pair), pair.len);
	value = mem_printf("Basic %s", encoded);
	mem_free_secret(encoded);
	buf_done_secret(&pair);
	return value;
}

static enum exchange_verdict oauthclient_next(struct identity_exchange *x, struct webrequest *out,
	struct credential *got, struct err *err)
{
	const struct identity *i = x->identity;
	bool in_form = x->memory & IN_FORM;
	const struct identity_field fields[] = { { "grant_type", "client_credentials" },
		{ "scope", identity_text(i, SCOPES) }, { "client_id", in_form ? identity_text(i, CLIENT_ID) : NULL },
		{ "client_secret", in_form ? identity_text(i, CLIENT_SECRET) : NULL },
		{ NULL, identity_text(i, PARAMS) } };
	char *basic = in_form ? NULL : basic_value(i);

	(void)got;
	(void)err;
	if (basic)
		strmap_set(&out->headers, "Authorization", basic);
	mem_free_secret(basic);
	identity_post_form(out, identity_text(i, TOKEN_URL), fields);
	return EXCHANGE_SEND;
}

/* RFC 6749 requires Basic, but not every server accepts it: try both ways. */
static enum exchange_verdict oauthclient_read(struct identity_exchange *x, const struct webresponse *answer,
	struct credential *got, struct err *err)
{
	if (oauthreply_read(answer, got, err) == 0)
		return EXCHANGE_DONE;
	if ((answer->status != 400 && answer->status != 401) || x->stage == OTHER_WAY)
		return EXCHANGE_FAILED;
	x->stage = OTHER_WAY;
	x->memory ^= IN_FORM;
	return EXCHANGE_NEXT;
}

static const struct identity_kind oauthclient = { .name = "oauth2",
	.label = "OAuth token",
	.next = oauthclient_next,
	.read = oauthclient_read };

struct identity *oauthclient_new(const struct oauthclient_config *config, struct err *err)
{
	struct identity_config c = { .kind = &oauthclient, .trust = config->trust };
	const struct tls_client_config tls = { .ca_pem = config->trust.ca_pem,
		.cert_pem = config->trust.cert_pem,
		.key_pem = config->trust.key_pem,
		.insecure = config->trust.insecure };
	struct httpurl_place place = { 0 };

	if (tls_client_check(&tls, err))
		return NULL;
	if (httpurl_place(config->token_url, &place, err)) {
		err_wrap(err, "the token URL");
		return NULL;
	}
	httpurl_place_done(&place);
	for (const char *at = config->params; at && *at; at++)
		if ((unsigned char)*at < ' ' || *at == 0x7f) {
			err_set(err, ERR_INVALID,
				"the token URL's parameters contain a line break or another control character");
			return NULL;
		}
	c.texts[TOKEN_URL] = config->token_url;
	c.texts[CLIENT_ID] = config->client_id;
	c.texts[CLIENT_SECRET] = config->client_secret;
	c.texts[SCOPES] = config->scopes;
	c.texts[PARAMS] = config->params;
	return identity_new(&c);
}
