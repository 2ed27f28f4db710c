/* SPDX-License-Identifier: Apache-2.0 */
#include "net/secretmanagers/googlesecrets.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/identity/googlekey.h"

#define PERMISSION "secretmanager.versions.access (role Secret Manager Secret Accessor)"
#define DIGITS     "0123456789"
#define LETTERS    "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ" DIGITS "-_"
#define NAME_MOST  255
#define CASTAGNOLI 0x82f63b78u /* bits reversed */

/* An alias, like "latest", moves from version to version. */
static bool googlesecrets_is_pinned(const struct secretmanager_secret *s)
{
	return text_is_given(s->version) && secretmanager_is_of(s->version, DIGITS, NAME_MOST);
}

/* All become parts of a path: only valid characters. */
static int googlesecrets_request(const struct secretmanager_secret *s, struct webrequest *out, struct err *err)
{
	const char *version = text_is_given(s->version) ? s->version : "latest";

	if (!text_is_given(s->project) || !googlekey_is_project(s->project))
		return err_set(err, ERR_INVALID,
			"secret %.200s: its project is not known: set CLOUDSDK_CORE_PROJECT in kscaled's environment",
			s->name);
	if (!secretmanager_is_of(s->name, LETTERS, NAME_MOST))
		return err_set(err, ERR_INVALID,
			"secret %.200s: the id is invalid: it has 1 to 255 letters, digits, hyphens and underscores",
			s->name);
	if (!secretmanager_is_of(version, LETTERS, NAME_MOST))
		return err_set(err, ERR_INVALID, "secret %s: version %.100s is invalid: it is a number or an alias",
			s->name, version);
	out->url = mem_printf("%s/v1/projects/%s/secrets/%s/versions/%s:access", s->endpoint, s->project, s->name,
		version);
	return 0;
}

uint32_t googlesecrets_checksum(const void *bytes, size_t len)
{
	const unsigned char *at = bytes;
	uint32_t crc = UINT32_MAX;

	for (size_t i = 0; i < len; i++) {
		crc ^= at[i];
		for (int bit = 0; bit < 8; bit++)
			crc = crc >> 1 ^ (crc & 1 ? CASTAGNOLI : 0);
	}
	return ~crc;
}

/* An int64, which Google's JSON writes as a string. Optional. */
static bool is_whole(const json_t *checksum, const char *bytes, size_t len)
{
	const char *text = json_string_value(checksum);
	char *end = NULL;
	long long said = text ? strtoll(text, &end, 10) : json_integer_value(checksum);

	if (!checksum || json_is_null(checksum))
		return true;
	return (text ? end != text && *end == '\0' : json_is_integer(checksum)) &&
		said == (long long)googlesecrets_checksum(bytes, len);
}

static int googlesecrets_take(const json_t *answer, char **value, struct err *err)
{
	const json_t *payload = json_object_get(answer, "payload");
	const char *data = json_string_value(json_object_get(payload, "data"));
	size_t len = 0;
	char *bytes = data ? base64_decode(data, &len) : NULL;

	if (!bytes)
		return err_set(err, ERR_INVALID, "the answer has no payload in base64");
	if (!is_whole(json_object_get(payload, "dataCrc32c"), bytes, len)) {
		err_set(err, ERR_TEMPORARY, "secret payload data corruption detected"); /* KEDA's text */
	} else if (strlen(bytes) != len) {
		err_set(err, ERR_INVALID, "its value holds a NUL character");
	} else {
		*value = bytes;
		return 0;
	}
	mem_wipe(bytes, len);
	free(bytes);
	return -1;
}

static int googlesecrets_refused(const struct webresponse *answer, struct err *err)
{
	return secretmanager_refused(answer, "status", PERMISSION, err);
}

const struct secretmanager googlesecrets = { .label = "Google Secret Manager",
	.needs_project = true,
	.is_pinned = googlesecrets_is_pinned,
	.request = googlesecrets_request,
	.take = googlesecrets_take,
	.refused = googlesecrets_refused };
