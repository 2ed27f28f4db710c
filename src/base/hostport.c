/* SPDX-License-Identifier: Apache-2.0 */
#include "base/hostport.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

int hostport_port(const char *text)
{
	size_t len = strlen(text);
	long port = len > 0 && len <= 5 && strspn(text, "0123456789") == len ? strtol(text, NULL, 10) : -1;

	return port <= UINT16_MAX ? (int)port : -1;
}

enum hostport_flaw hostport_parse(const char *text, struct hostport *out)
{
	bool bracketed = text[0] == '[';
	const char *host = text + bracketed;
	size_t len = strcspn(host, bracketed ? "]" : ":");
	const char *behind = host + len + (bracketed && host[len] == ']');
	int port = 0;

	if (bracketed && (host[len] != ']' || (*behind && *behind != ':')))
		return HOSTPORT_BRACKETS;
	if (strrchr(behind, ':') != (*behind ? behind : NULL))
		return bracketed ? HOSTPORT_BRACKETS : HOSTPORT_COLONS;
	if (len > HOSTPORT_HOST_MAX)
		return HOSTPORT_LONG;
	if (*behind && (port = hostport_port(behind + 1)) < 0)
		return HOSTPORT_PORT;
	*out = (struct hostport){ .bracketed = bracketed, .has_port = *behind, .port = (uint16_t)port };
	memcpy(out->host, host, len);
	return HOSTPORT_GOOD;
}

int hostport_parse_listen(const char *text, struct hostport *out, struct err *err)
{
	enum hostport_flaw flaw = hostport_parse(text, out);

	if (flaw == HOSTPORT_COLONS || flaw == HOSTPORT_BRACKETS)
		return err_set(err, ERR_INVALID, "\"%.64s\": an IPv6 address must be in brackets, like [::1]:8080",
			text);
	if (flaw == HOSTPORT_LONG)
		return err_set(err, ERR_INVALID, "\"%.64s...\": the host is longer than %d characters", text,
			HOSTPORT_HOST_MAX);
	if (flaw == HOSTPORT_PORT)
		return err_set(err, ERR_INVALID, "\"%.64s\": \"%.16s\" is not a port: 0 to 65535", text,
			strrchr(text, ':') + 1);
	if (!out->has_port)
		return err_set(err, ERR_INVALID, "\"%.64s\" has no port: HOST:PORT, or :PORT for all addresses", text);
	return 0;
}

char *hostport_join_text(const char *host, const char *port)
{
	return mem_printf(strchr(host, ':') && host[0] != '[' ? "[%s]:%s" : "%s:%s", host, port);
}

char *hostport_join(const char *host, unsigned port)
{
	char text[16];

	snprintf(text, sizeof(text), "%u", port);
	return hostport_join_text(host, text);
}
