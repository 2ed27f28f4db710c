/* SPDX-License-Identifier: Apache-2.0 */
#include "net/pg/pglogin.h"

#include "base/text.h"

#define HEAD_BYTES     5 /* type, and length without the type */
#define CODE_BYTES     4
#define REQUEST_BYTES  8 /* of an SSLRequest, the shortest startup packet */
#define SSL_REQUEST    80877103
#define TLS_HANDSHAKE  0x16
#define AUTHENTICATION 'R'
#define ERROR_RESPONSE 'E'

static uint32_t number(const unsigned char *bytes)
{
	return (uint32_t)bytes[0] << 24 | (uint32_t)bytes[1] << 16 | (uint32_t)bytes[2] << 8 | bytes[3];
}

static void enter(struct pglogin *l, int state)
{
	l->state = state;
	l->have = 0;
}

void pglogin_client(struct pglogin *l, const unsigned char *bytes, size_t len)
{
	for (size_t i = 0; i < len && l->state == PGLOGIN_SILENT; i++) {
		l->words[l->have++] = bytes[i];
		if (l->words[0] == TLS_HANDSHAKE) /* sslnegotiation=direct */
			enter(l, PGLOGIN_OPAQUE);
		else if (l->have == REQUEST_BYTES)
			enter(l, number(l->words + 4) == SSL_REQUEST ? PGLOGIN_TLS_ANSWER : PGLOGIN_HEAD);
	}
}

static void read_body(struct pglogin *l, uint32_t left)
{
	l->left = left;
	enter(l, left ? PGLOGIN_BODY : PGLOGIN_HEAD);
}

static void take_byte(struct pglogin *l, unsigned char byte)
{
	uint32_t len, code;

	if (l->state == PGLOGIN_TLS_ANSWER) {
		enter(l, byte == 'S' ? PGLOGIN_OPAQUE : PGLOGIN_HEAD);
		if (byte == 'S' || byte == 'N')
			return;
	}
	l->words[l->have++] = byte;
	len = l->have >= HEAD_BYTES ? number(l->words + 1) : 0;
	if (l->state == PGLOGIN_HEAD && l->have == HEAD_BYTES) {
		l->complained = l->complained || l->words[0] == ERROR_RESPONSE;
		if (l->words[0] == AUTHENTICATION && len >= 4 + CODE_BYTES)
			l->state = PGLOGIN_CODE;
		else
			read_body(l, len > 4 ? len - 4 : 0);
	} else if (l->state == PGLOGIN_CODE && l->have == HEAD_BYTES + CODE_BYTES) {
		code = number(l->words + HEAD_BYTES);
		l->asks = code == 7 || code == 8 ? "GSSAPI" : code == 9 ? "SSPI" : NULL;
		if (code == 0) /* logged in: no further request can follow */
			enter(l, PGLOGIN_OPAQUE);
		else
			read_body(l, len - 4 - CODE_BYTES);
	}
}

size_t pglogin_server(struct pglogin *l, const unsigned char *bytes, size_t len)
{
	size_t i = 0;

	while (i < len && !l->asks) {
		if (l->state == PGLOGIN_SILENT)
			return i;
		if (l->state == PGLOGIN_OPAQUE)
			return len;
		if (l->state == PGLOGIN_BODY) {
			size_t skipped = len - i < l->left ? len - i : l->left;

			i += skipped;
			l->left -= (uint32_t)skipped;
			if (!l->left)
				enter(l, PGLOGIN_HEAD);
			continue;
		}
		take_byte(l, bytes[i]);
		if (!l->asks)
			i++;
	}
	return i;
}

bool pglogin_is_refusal(const char *text)
{
	static const char *const words[] = { "GSSAPI continuation error", "GSSAPI name import error",
		"GSSAPI authentication not supported", "duplicate GSS authentication request",
		"SSPI authentication not supported", "server requested GSSAPI", "server requested SSPI", NULL };

	return text_has_one_of(text, words);
}
