/* SPDX-License-Identifier: Apache-2.0 */
#include "net/sign/azuresign.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/sign/hmac.h"

#define TEXT_MAX ((size_t)1 << 20)

static char *hmac_base64(const void *key, size_t key_len, const char *text)
{
	uint8_t bytes[HMAC_SIZE];

	hmac_sha256(key, key_len, text, strlen(text), bytes);
	return base64_encode(bytes, sizeof(bytes));
}

/* ---- SharedKey ---- */

static const char *header(const struct strmap *headers, const char *name)
{
	for (size_t i = 0; i < headers->count; i++)
		if (strcasecmp(headers->pairs[i].key, name) == 0)
			return headers->pairs[i].value;
	return "";
}

static char *lower(const char *text, size_t len)
{
	char *copy = mem_dupn(text, len);

	for (char *c = copy; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	return copy;
}

/* Sorted by lower-case name; a strmap sorts by the name as written. */
static void put_ms_headers(struct buf *out, const struct strmap *headers)
{
	struct strmap sorted = { 0 };

	for (size_t i = 0; i < headers->count; i++) {
		MEM_AUTO char *name = lower(headers->pairs[i].key, strlen(headers->pairs[i].key));

		if (text_begins(name, "x-ms-"))
			strmap_set(&sorted, name, headers->pairs[i].value);
	}
	for (size_t i = 0; i < sorted.count; i++) {
		MEM_AUTO char *value = mem_dup(sorted.pairs[i].value);

		buf_printf(out, "%s:%s\n", sorted.pairs[i].key, text_trim(value, " \t"));
	}
	strmap_done(&sorted);
}

static char *decoded(const char *text, size_t len)
{
	char *out = mem_dupn(text, len);

	text_percent_decode(out, len);
	return out;
}

/* "\nname:value" for each parameter, sorted; equal names share a line with their sorted values. */
static void put_parameters(struct buf *out, const char *query)
{
	struct strmap sorted = { 0 };

	for (const char *at = query ? query : ""; *at;) {
		size_t len = strcspn(at, "&"), name_len = 0;
		MEM_AUTO char *coded = NULL, *name = NULL, *value = NULL, *both = NULL;
		const char *before;

		while (name_len < len && at[name_len] != '=')
			name_len++;
		coded = decoded(at, name_len);
		name = lower(coded, strlen(coded));
		value = name_len < len ? decoded(at + name_len + 1, len - name_len - 1) : mem_dup("");
		before = strmap_get(&sorted, name);
		if (before)
			both = strcmp(before, value) <= 0 ? mem_printf("%s,%s", before, value)
							  : mem_printf("%s,%s", value, before);
		if (len > 0)
			strmap_set(&sorted, name, both ? both : value);
		at += len + (at[len] == '&');
	}
	for (size_t i = 0; i < sorted.count; i++)
		buf_printf(out, "\n%s:%s", sorted.pairs[i].key, sorted.pairs[i].value);
	strmap_done(&sorted);
}

char *azuresign_text(const struct azuresign_request *request, const char *account)
{
	static const char *const names[] = { "Content-Encoding", "Content-Language", "Content-Length", "Content-MD5",
		"Content-Type", "Date", "If-Modified-Since", "If-Match", "If-None-Match", "If-Unmodified-Since",
		"Range" };
	struct buf out = BUF_INIT(TEXT_MAX);

	buf_printf(&out, "%s\n", request->method);
	for (size_t i = 0; i < MEM_COUNT(names); i++) {
		const char *value = header(request->headers, names[i]);
		bool is_nothing = strcmp(names[i], "Content-Length") == 0 && strcmp(value, "0") == 0;

		buf_printf(&out, "%s\n", is_nothing ? "" : value);
	}
	put_ms_headers(&out, request->headers);
	buf_printf(&out, "/%s%s", account, *request->path ? request->path : "/");
	put_parameters(&out, request->query);
	return buf_take(&out);
}

char *azuresign_shared_key(const struct azuresign_request *request, const char *account, const char *key,
	struct err *err)
{
	MEM_AUTO char *text = azuresign_text(request, account), *signature = NULL;
	size_t len;
	char *bytes = base64_decode(key, &len);

	if (!bytes) {
		err_set(err, ERR_INVALID, "the account's key is not base64");
		return NULL;
	}
	signature = hmac_base64(bytes, len, text);
	mem_wipe(bytes, len);
	free(bytes);
	return mem_printf("SharedKey %s:%s", account, signature);
}

/* ---- Service Bus, Event Hubs ---- */

static char *encoded(const char *text)
{
	struct buf out = BUF_INIT(TEXT_MAX);

	buf_put_percent(&out, text, "");
	return buf_take(&out);
}

char *azuresign_token(const char *url, const char *key_name, const char *key, int64_t until_unix_s)
{
	MEM_AUTO char *place = encoded(url), *name = encoded(key_name);
	MEM_AUTO char *text = mem_printf("%s\n%lld", place, (long long)until_unix_s);
	MEM_AUTO char *signature = hmac_base64(key, strlen(key), text);
	MEM_AUTO char *shown = encoded(signature);

	return mem_printf("SharedAccessSignature sr=%s&sig=%s&se=%lld&skn=%s", place, shown, (long long)until_unix_s,
		name);
}
