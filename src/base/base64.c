/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

#include <openssl/evp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

char *base64_encode(const void *bytes, size_t len)
{
	char *text;

	if (len > BASE64_MAX)
		abort(); /* our own data are never so long */
	text = mem_alloc(4 * ((len + 2) / 3) + 1);
	EVP_EncodeBlock((unsigned char *)text, bytes, (int)len);
	return text;
}

/*
 * OpenSSL's decoder is made for PEM: it stops at '-', takes blanks at the ends, and so lets garbage
 * pass as an empty text. Hence our own.
 */
struct decoder {
	unsigned char *out;
	size_t len;
	uint32_t bits;
	unsigned count; /* digits and padding of the group so far */
	unsigned padding;
};

static int take(struct decoder *d, char c)
{
	const char *digit = memchr(digits, c, sizeof digits - 1);

	if (c == '=' && d->count >= 2)
		d->padding++;
	else if (!digit || d->padding > 0)
		return -1;
	d->bits = d->bits << 6 | (digit ? (uint32_t)(digit - digits) : 0);
	if (++d->count < 4)
		return 0;
	for (unsigned i = 0; i < 3 - d->padding; i++)
		d->out[d->len++] = (unsigned char)(d->bits >> (16 - 8 * i));
	d->bits = 0;
	d->count = 0;
	return 0;
}

char *base64_decode(const char *text, size_t *len)
{
	size_t text_len = strlen(text), size = text_len / 4 * 3 + 4;
	struct decoder d = { 0 };

	if (text_len > BASE64_MAX)
		return NULL;
	d.out = mem_zalloc(size);
	for (const char *c = text; *c; c++) {
		if (*c == '\n' || *c == '\r' || take(&d, *c) == 0)
			continue;
		d.count = 1;
		break;
	}
	if (d.count != 0) {
		mem_wipe(d.out, size);
		free(d.out);
		return NULL;
	}
	if (len)
		*len = d.len;
	return (char *)d.out;
}
