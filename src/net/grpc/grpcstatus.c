/* SPDX-License-Identifier: Apache-2.0 */
#include "net/grpc/grpcstatus.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "base/text.h"
#include "base/utf8.h"

/* The status codes by number, and their error kinds. */
static const struct {
	const char *name;
	enum err_kind kind;
} codes[] = {
	{ "OK", ERR_NONE },
	{ "CANCELLED", ERR_TEMPORARY },
	{ "UNKNOWN", ERR_TEMPORARY },
	{ "INVALID_ARGUMENT", ERR_INVALID },
	{ "DEADLINE_EXCEEDED", ERR_TEMPORARY },
	{ "NOT_FOUND", ERR_INVALID },
	{ "ALREADY_EXISTS", ERR_INVALID },
	{ "PERMISSION_DENIED", ERR_DENIED },
	{ "RESOURCE_EXHAUSTED", ERR_TEMPORARY },
	{ "FAILED_PRECONDITION", ERR_INVALID },
	{ "ABORTED", ERR_TEMPORARY },
	{ "OUT_OF_RANGE", ERR_INVALID },
	{ "UNIMPLEMENTED", ERR_INVALID },
	{ "INTERNAL", ERR_TEMPORARY },
	{ "UNAVAILABLE", ERR_TEMPORARY },
	{ "DATA_LOSS", ERR_INVALID },
	{ "UNAUTHENTICATED", ERR_DENIED },
};
#define CODES ((int)MEM_COUNT(codes))

/* Replaces invalid UTF-8 and control characters by '?', for conditions, Events and logs. */
static void clean(char *text, size_t len)
{
	for (size_t i = 0; i < len;) {
		size_t step = utf8_step(text + i, len - i);

		if (step == 0 || (step == 1 && iscntrl((unsigned char)text[i])))
			text[i] = text[i] == '\n' || text[i] == '\t' ? ' ' : '?';
		i += step ? step : 1;
	}
}

static void note_message(struct grpcstatus *s, const char *value, size_t len)
{
	char text[GRPCSTATUS_MESSAGE_MAX + 5]; /* room to avoid cutting a character */
	size_t n = 0;

	for (size_t i = 0; i < len && n < sizeof(text) - 1; i++) {
		/* percent-decoding; an invalid escape stays as it is */
		int byte = value[i] == '%' ? text_hex_byte(value + i + 1, len - i - 1) : -1;

		text[n++] = byte < 0 ? value[i] : (char)byte;
		i += byte < 0 ? 0 : 2;
	}
	text[n] = '\0';
	clean(text, n);
	n = utf8_cut(text, n, GRPCSTATUS_MESSAGE_MAX);
	memcpy(s->message, text, n);
	s->message[n] = '\0';
}

static void note_code(struct grpcstatus *s, const char *value, size_t len)
{
	s->told = true;
	s->code = 0;
	for (size_t i = 0; i < len; i++) {
		if (!isdigit((unsigned char)value[i]) || s->code > 999) {
			s->code = -1;
			return;
		}
		s->code = s->code * 10 + (value[i] - '0');
	}
	if (len == 0)
		s->code = -1;
}

static void note_type(struct grpcstatus *s, const char *value, size_t len)
{
	static const char ours[] = "application/grpc";
	size_t n = sizeof(ours) - 1;

	s->foreign = len < n || strncasecmp(value, ours, n) != 0 || (len > n && value[n] != '+' && value[n] != ';');
	snprintf(s->content_type, sizeof(s->content_type), "%.*s", (int)(len < 63 ? len : 63), value);
	clean(s->content_type, strlen(s->content_type));
}

void grpcstatus_note(struct grpcstatus *s, const char *line, size_t len)
{
	static const struct {
		const char *name;
		void (*note)(struct grpcstatus *s, const char *value, size_t len);
	} headers[] = { { "grpc-status", note_code }, { "grpc-message", note_message }, { "content-type", note_type } };
	const char *colon = memchr(line, ':', len);
	size_t name_len = colon ? (size_t)(colon - line) : 0, value_len = colon ? len - name_len - 1 : 0;
	const char *value = line + name_len + 1;

	while (value_len > 0 && (*value == ' ' || *value == '\t')) {
		value++;
		value_len--;
	}
	for (size_t i = 0; colon && i < MEM_COUNT(headers); i++)
		if (strlen(headers[i].name) == name_len && strncasecmp(headers[i].name, line, name_len) == 0)
			headers[i].note(s, value, value_len);
}

int grpcstatus_judge(const struct grpcstatus *s, int http_status, struct err *err)
{
	/*
	 * https://github.com/grpc/grpc/blob/master/doc/http-grpc-status-mapping.md, for proxies
	 * without gRPC support.
	 */
	static const struct {
		int http, code;
	} mapping[] = { { 400, 13 }, { 401, 16 }, { 403, 7 }, { 404, 12 }, { 429, 14 }, { 502, 14 }, { 503, 14 },
		{ 504, 14 } };
	int code = s->code;

	if (!s->told && http_status != 200) {
		code = 2;
		for (size_t i = 0; i < MEM_COUNT(mapping); i++)
			if (mapping[i].http == http_status)
				code = mapping[i].code;
		return err_set(err, codes[code].kind, "%s: HTTP status %d", codes[code].name, http_status);
	}
	if (s->foreign)
		return err_set(err, ERR_INVALID, "the answer is not gRPC: its content-type is \"%s\"", s->content_type);
	if (!s->told)
		return err_set(err, ERR_TEMPORARY, "the answer ended without a grpc-status");
	if (code == 0)
		return 0;
	if (code < 0 || code >= CODES)
		return err_set(err, ERR_TEMPORARY, "an unknown grpc-status%s%s", *s->message ? ": " : "", s->message);
	return err_set(err, codes[code].kind, "%s%s%s", codes[code].name, *s->message ? ": " : "", s->message);
}
