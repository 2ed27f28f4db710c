/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http/httpframing.h"

#include <stdbool.h>
#include <string.h>
#include <strings.h>
#include <sys/queue.h>

#include <event2/http.h>
#include <event2/http_struct.h>
#include <event2/keyvalq_struct.h>

#include "base/text.h"

/* RFC 9110 5.6.2 */
static const unsigned char is_token_char[256] = {
	['0' ... '9'] = 1,
	['A' ... 'Z'] = 1,
	['a' ... 'z'] = 1,
	['!'] = 1,
	['#'] = 1,
	['$'] = 1,
	['%'] = 1,
	['&'] = 1,
	['\''] = 1,
	['*'] = 1,
	['+'] = 1,
	['-'] = 1,
	['.'] = 1,
	['^'] = 1,
	['_'] = 1,
	['`'] = 1,
	['|'] = 1,
	['~'] = 1,
};

static bool is_token(const char *text)
{
	const unsigned char *at = (const unsigned char *)text;

	if (!*at)
		return false;
	while (is_token_char[*at])
		at++;
	return *at == '\0';
}

static bool is_number(const char *text)
{
	return text[0] && text[strspn(text, "0123456789")] == '\0';
}

/* RFC 9112 3.2: whoever splits the line at its first blank would see another target. */
static bool is_target(const char *uri)
{
	for (const unsigned char *at = (const unsigned char *)uri; *at; at++)
		if (*at <= ' ' || *at == 0x7f)
			return false;
	return true;
}

/* RFC 9110 5.5: a lone CR is a line's end to some. */
static bool is_value(const char *text)
{
	for (const unsigned char *at = (const unsigned char *)text; *at; at++)
		if ((*at < ' ' && *at != '\t') || *at == 0x7f)
			return false;
	return true;
}

const char *httpframing_fault(const struct evhttp_request *req)
{
	const struct evkeyval *header;
	int lengths = 0, encodings = 0;

	if (req->major != 1)
		return "HTTP version";
	if (!is_target(evhttp_request_get_uri(req)))
		return "request target";
	TAILQ_FOREACH (header, req->input_headers, next) {
		if (!is_token(header->key))
			return "header name";
		if (!is_value(header->value))
			return "header value";
		if (text_equal_nocase(header->key, "Content-Length") && (lengths++ || !is_number(header->value)))
			return "Content-Length";
		if (text_equal_nocase(header->key, "Transfer-Encoding") &&
			(encodings++ || strcasecmp(header->value, "chunked") != 0))
			return "Transfer-Encoding";
	}
	return lengths && encodings ? "Content-Length beside Transfer-Encoding" : NULL;
}
