/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/tokenfacts.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

#define CLAIMS_MAX  (16 * 1024)
#define SECONDS_MAX INT64_C(253402300799) /* the year 9999 */
#define LATEST_MS   (INT64_C(15) * 60 * 1000)

/* From base64url (RFC 7515, without padding) to JSON; NULL: not valid. */
static json_t *claims_of(const char *token)
{
	const char *first = strchr(token, '.'), *second = first ? strchr(first + 1, '.') : NULL;
	size_t len = second ? (size_t)(second - first - 1) : 0, decoded_len;
	json_t *claims = NULL;
	char *text, *decoded;

	if (len == 0 || len > CLAIMS_MAX)
		return NULL;
	text = mem_zalloc(len + 4);
	memcpy(text, first + 1, len);
	for (char *c = text; *c; c++)
		*c = *c == '-' ? '+' : *c == '_' ? '/' : *c;
	while (len % 4 != 0)
		text[len++] = '=';
	decoded = base64_decode(text, &decoded_len);
	if (decoded) {
		claims = json_parse_foreign(decoded, decoded_len, NULL);
		mem_wipe(decoded, decoded_len);
	}
	free(decoded);
	mem_free_secret(text);
	return claims;
}

static int64_t time_of(const json_t *claims, const char *name)
{
	double seconds = json_number_value(json_object_get(claims, name));

	return seconds > 0 && seconds < (double)SECONDS_MAX ? (int64_t)(seconds * 1000) : 0;
}

static void take_subject(const char *subject, struct tokenfacts *out)
{
	const char *who = text_behind(subject, "system:serviceaccount:"), *colon = who ? strchr(who, ':') : NULL;

	if (!colon || (size_t)(colon - who) >= sizeof out->namespace_ || strlen(colon + 1) >= sizeof out->account)
		return;
	memcpy(out->namespace_, who, (size_t)(colon - who));
	strcpy(out->account, colon + 1);
}

static void take_audience(const json_t *aud, struct tokenfacts *out)
{
	const json_t *one = json_array_size(aud) == 1 ? json_array_get(aud, 0) : aud;
	const char *text = json_string_value(one);

	if (text && strlen(text) == json_string_length(one) && strlen(text) < sizeof out->audience)
		strcpy(out->audience, text);
}

int tokenfacts_read(const char *token, struct tokenfacts *out, struct err *err)
{
	json_t *claims = claims_of(token);

	*out = (struct tokenfacts){ .issued_unix_ms = 0 };
	if (!json_is_object(claims)) {
		json_decref(claims);
		return err_set(err, ERR_INVALID, "the token is not a JSON Web Token");
	}
	out->issued_unix_ms = time_of(claims, "iat");
	out->ends_unix_ms = time_of(claims, "exp");
	take_subject(json_str_or_empty(claims, "sub"), out);
	take_audience(json_object_get(claims, "aud"), out);
	json_decref(claims);
	return 0;
}

int64_t tokenfacts_renew_unix_ms(const struct tokenfacts *facts)
{
	int64_t latest = facts->ends_unix_ms - LATEST_MS;
	int64_t half = facts->issued_unix_ms + (facts->ends_unix_ms - facts->issued_unix_ms) / 2;

	if (facts->ends_unix_ms == 0)
		return 0;
	return facts->issued_unix_ms > 0 && half < latest ? half : latest;
}
