/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/address.h"

#include <stdlib.h>
#include <string.h>

static int refuse(const char *text, struct err *err)
{
	return err_set(err, ERR_INVALID, "\"%s\" is not an address to listen on: give HOST:PORT, [IPV6]:PORT or :PORT", text);
}

static int parse_port(const char *text, uint16_t *port)
{
	char *end;
	unsigned long value;

	if (!*text || strspn(text, "0123456789") != strlen(text) || strlen(text) > 5)
		return -1;
	value = strtoul(text, &end, 10);
	if (value > UINT16_MAX)
		return -1;
	*port = (uint16_t)value;
	return 0;
}

int address_parse(const char *text, char *host, size_t host_size, uint16_t *port, struct err *err)
{
	const char *colon = strrchr(text, ':');
	const char *start = text, *end = colon;

	if (!colon || parse_port(colon + 1, port))
		return refuse(text, err);
	if (*start == '[') {
		if (colon == text || colon[-1] != ']')
			return refuse(text, err);
		start++;
		end--;
	} else if (memchr(start, ':', (size_t)(end - start))) {
		return refuse(text, err); /* an IPv6 address without brackets: nobody can tell its end */
	}
	if ((size_t)(end - start) >= host_size)
		return refuse(text, err);
	memcpy(host, start, (size_t)(end - start));
	host[end - start] = '\0';
	return 0;
}
