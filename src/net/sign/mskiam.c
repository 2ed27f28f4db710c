/* SPDX-License-Identifier: Apache-2.0 */
#include "net/sign/mskiam.h"

#include <ctype.h>
#include <jansson.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

#define ACTION     "kafka-cluster:Connect"
#define AGENT      "kscaled"
#define GOOD_FOR_S 900

/* The query of the presigned request; the caller owns it. */
static char *presigned(const struct sigv4_key *as, const char *host, int64_t unix_s)
{
	const struct sigv4_header header = { "Host", host };
	const struct sigv4_request request = { .method = "GET",
		.path = "/",
		.query = "Action=" ACTION,
		.headers = &header,
		.header_count = 1 };
	struct sigv4_key key = *as;

	key.service = "kafka-cluster";
	return sigv4_presigned(&request, &key, unix_s, GOOD_FOR_S);
}

/* AWS's own signers use this host in all partitions, also in China. */
char *mskiam_token(const struct sigv4_key *key, int64_t unix_s)
{
	MEM_AUTO char *host = mem_printf("kafka.%s.amazonaws.com", key->region);
	char *query = presigned(key, host, unix_s);
	char *url = mem_printf("https://%s/?%s&User-Agent=" AGENT, host, query);
	char *token = base64_encode_url(url, strlen(url));

	mem_free_secret(query);
	mem_free_secret(url);
	return token;
}

/* ---- As JSON ---- */

/* Decodes sigv4_presigned's encoding in place. */
static char *decoded(char *text)
{
	char *to = text;

	for (const char *c = text; *c; c++) {
		int byte = *c == '%' ? text_hex_byte(c + 1, strlen(c + 1)) : -1;

		*to++ = byte > 0 ? (char)byte : *c;
		c += byte > 0 ? 2 : 0;
	}
	*to = '\0';
	return text;
}

char *mskiam_payload(const struct sigv4_key *key, const char *host, int64_t unix_s)
{
	json_t *object = json_pack("{ss ss ss}", "version", "2020_10_22", "host", host, "user-agent", AGENT);
	char *query = presigned(key, host, unix_s), *rest = query, *pair, *text;

	while ((pair = strsep(&rest, "&")) != NULL) {
		char *name = strsep(&pair, "=");

		for (char *c = name; *c; c++)
			*c = (char)tolower((unsigned char)*c);
		json_object_set_new(object, name, json_string(decoded(pair)));
	}
	mem_free_secret(query);
	text = json_text(object);
	json_decref(object);
	return text;
}
