/* SPDX-License-Identifier: Apache-2.0 */
#include "net/identity/oauthreply.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/identity/identity_parts.h"

#define LIFE_MAX_S (10 * 365 * 86400.0)

/* In ms; some servers write the seconds as a string. 0: unknown, so an expired token gets 1 ms. */
static int64_t life_of(const json_t *answer)
{
	const json_t *value = json_object_get(answer, "expires_in");
	const char *text = json_string_value(value);
	double seconds = text ? strtod(text, NULL) : json_number_value(value);

	if ((text && !strpbrk(text, "0123456789")) || (!text && !json_is_number(value)) || isnan(seconds))
		return 0;
	return seconds < 0.001 ? 1 : (int64_t)((seconds < LIFE_MAX_S ? seconds : LIFE_MAX_S) * 1000);
}

/* Only known codes (RFC 6749, Entra ID): error_description may repeat what was sent. */
static char *code_of(const json_t *answer)
{
	static const char *const codes[] = { "invalid_request", "invalid_client", "invalid_grant",
		"unauthorized_client", "unsupported_grant_type", "invalid_scope", "temporarily_unavailable",
		"server_error", "access_denied", "invalid_resource", "interaction_required", "consent_required", NULL };
	const char *code = json_str_or_empty(answer, "error"), *number = json_str_or_empty(answer, "error_description");
	size_t digits = text_begins(number, "AADSTS") ? strspn(number + 6, "0123456789") : 0;

	if (!text_is_one_of(code, codes))
		return NULL;
	return digits > 0 && digits < 12 ? mem_printf("%s (%.*s)", code, (int)digits + 6, number) : mem_dup(code);
}

int oauthreply_read(const struct webresponse *answer, struct credential *out, struct err *err)
{
	json_t *value = answer->status ? json_parse_foreign(answer->body, answer->len, NULL) : NULL;
	const char *text = json_str_or_empty(value, "access_token"), *type = json_str_or_empty(value, "token_type");
	MEM_AUTO char *code = code_of(value);
	int rc = -1;

	if (answer->status < 200 || answer->status > 299) {
		identity_refused(answer, "no token", code, err);
	} else if (!json_is_object(value)) {
		err_set(err, ERR_INVALID, "no token: the answer is not a JSON object");
	} else if (!identity_is_token(text)) {
		err_set(err, ERR_INVALID, "no token: the answer has no valid access_token");
	} else if (*type && strcasecmp(type, "bearer") != 0) {
		err_set(err, ERR_INVALID, "no token: the answer's token_type is not bearer");
	} else {
		out->token = mem_dup(text);
		out->life_ms = life_of(value);
		rc = 0;
	}
	json_decref(value);
	return rc;
}
