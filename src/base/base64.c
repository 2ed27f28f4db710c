/* SPDX-License-Identifier: Apache-2.0 */
#include "base/base64.h"

#include <openssl/evp.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

char *base64_encode(const void *bytes, size_t len)
{
	char *text;

	if (len > BASE64_MAX)
		abort(); /* never: these are our own data */
	text = mem_alloc(4 * ((len + 2) / 3) + 1);
	EVP_EncodeBlock((unsigned char *)text, bytes, (int)len);
	return text;
}

char *base64_encode_url(const void *bytes, size_t len)
{
	char *text = base64_encode(bytes, len);

	for (char *c = text; *c; c++)
		*c = *c == '+' ? '-' : *c == '/' ? '_' : *c;
	text[strcspn(text, "=")] = '\0';
	return text;
}

/* Without line ends; NULL when what remains is not base64. The caller owns it. */
static char *plain_digits(const char *text, size_t *len)
{
	static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
	char *digits = mem_zalloc(strlen(text) + 1);
	const char *padding;

	*len = 0;
	for (const char *c = text; *c; c++)
		if (*c != '\n' && *c != '\r')
			digits[(*len)++] = *c;
	padding = digits + strspn(digits, alphabet);
	if (*len % 4 == 0 && (!*padding || strcmp(padding, "=") == 0 || strcmp(padding, "==") == 0))
		return digits;
	mem_free_secret(digits);
	return NULL;
}

/*
 * OpenSSL's decoder is made for PEM: it stops at '-' and skips blanks at the ends, so garbage would
 * pass as an empty text. Its input is therefore checked first.
 */
char *base64_decode(const char *text, size_t *len)
{
	size_t count, padding = 0;
	char *digits = strlen(text) <= BASE64_MAX ? plain_digits(text, &count) : NULL;
	unsigned char *bytes;

	if (!digits)
		return NULL;
	while (padding < count && digits[count - 1 - padding] == '=')
		padding++;
	bytes = mem_zalloc(count / 4 * 3 + 1);
	EVP_DecodeBlock(bytes, (const unsigned char *)digits, (int)count);
	if (len)
		*len = count / 4 * 3 - padding;
	mem_free_secret(digits);
	return (char *)bytes;
}
