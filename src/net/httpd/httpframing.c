/* SPDX-License-Identifier: Apache-2.0 */
#include "net/httpd/httpframing.h"

#include <stdbool.h>
#include <stdint.h>
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

#define LANES 16

typedef unsigned char lanes __attribute__((vector_size(LANES)));

/* Marks the bytes that are lower than `below`, or DEL. */
static lanes bad_ones(const char *bytes, unsigned char below)
{
	lanes each;

	memcpy(&each, bytes, LANES);
	return (lanes)((each < below) | (each == 0x7f));
}

/*
 * No control characters, and nothing lower than `below` except `allowed`. A token may have a
 * thousand bytes, almost always all valid, so several are checked at a time; the last ones twice.
 */
static bool is_clean(const char *text, unsigned char below, char allowed)
{
	size_t len = strlen(text), at = 0;

	if (len >= LANES) {
		lanes bad = bad_ones(text + len - LANES, below);
		uint64_t any[2];

		for (; at + LANES < len; at += LANES)
			bad |= bad_ones(text + at, below);
		memcpy(any, &bad, LANES);
		at = any[0] | any[1] ? 0 : len;
	}
	for (; at < len; at++)
		if (((unsigned char)text[at] < below && text[at] != allowed) || text[at] == 0x7f)
			return false;
	return true;
}

const char *httpframing_fault(const struct evhttp_request *req)
{
	const struct evkeyval *header;
	int lengths = 0, encodings = 0;

	if (req->major != 1)
		return "HTTP version";
	/*
	 * RFC 9112 3.2: a parser that splits the line at its first blank would see another target.
	 */
	if (!is_clean(evhttp_request_get_uri(req), ' ' + 1, '\0'))
		return "request target";
	TAILQ_FOREACH (header, req->input_headers, next) {
		if (!is_token(header->key))
			return "header name";
		/* RFC 9110 5.5: some parsers take a lone CR for a line end. */
		if (!is_clean(header->value, ' ', '\t'))
			return "header value";
		if (text_equal_nocase(header->key, "Content-Length") && (lengths++ || !is_number(header->value)))
			return "Content-Length";
		if (text_equal_nocase(header->key, "Transfer-Encoding") &&
			(encodings++ || strcasecmp(header->value, "chunked") != 0))
			return "Transfer-Encoding";
	}
	return lengths && encodings ? "Content-Length beside Transfer-Encoding" : NULL;
}
