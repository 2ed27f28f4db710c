/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/outsidehost.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "base/dnsname.h"
#include "base/hostport.h"

/* DNS limits the length of each label, unlike Kubernetes' rule for names. */
static bool is_dns_name(const char *text)
{
	for (;;) {
		size_t len = strcspn(text, ".");

		if (!dnsname_is_label(text, len))
			return false;
		if (!text[len])
			return true;
		text += len + 1;
	}
}

/*
 * Why this address is not allowed for an endpoint (Kubernetes' ValidateEndpointIP); NULL: allowed.
 */
static const char *why_no_endpoint(bool unspecified, bool loopback, bool link_local, bool multicast)
{
	return unspecified   ? "is unspecified"
		: loopback   ? "is a loopback address"
		: link_local ? "is link-local"
		: multicast  ? "is a multicast address"
			     : NULL;
}

static int refuse_address(const char *whole, const char *why, struct err *err)
{
	return err_set(err, ERR_INVALID,
		"\"%s\": the address %s, which is not allowed for an endpoint: give another address of this host, or a "
		"DNS name such as localhost",
		whole, why);
}

static int parse_ipv6(const char *whole, const char *host, struct outsidehost *out, struct err *err)
{
	struct in6_addr address;
	const char *why;

	if (inet_pton(AF_INET6, host, &address) != 1)
		return err_set(err, ERR_INVALID, "\"%s\": \"%s\" is not an IPv6 address", whole, host);
	if (IN6_IS_ADDR_V4MAPPED(&address))
		return err_set(err, ERR_INVALID,
			"\"%s\" is an IPv4 address in IPv6 form: write it as IPv4, without brackets", whole);
	why = why_no_endpoint(IN6_IS_ADDR_UNSPECIFIED(&address), IN6_IS_ADDR_LOOPBACK(&address),
		IN6_IS_ADDR_LINKLOCAL(&address), IN6_IS_ADDR_MULTICAST(&address));
	if (why)
		return refuse_address(whole, why, err);
	out->kind = OUTSIDEHOST_IPV6;
	inet_ntop(AF_INET6, &address, out->host, sizeof(out->host));
	return 0;
}

static int parse_name_or_ipv4(const char *whole, const char *host, struct outsidehost *out, struct err *err)
{
	struct in_addr address;

	if (inet_pton(AF_INET, host, &address) == 1) {
		uint32_t a = ntohl(address.s_addr);
		const char *why = why_no_endpoint(a == INADDR_ANY, a >> 24 == 127, a >> 16 == 0xa9fe /* 169.254/16 */,
			IN_MULTICAST(a));

		if (why)
			return refuse_address(whole, why, err);
		out->kind = OUTSIDEHOST_IPV4;
		inet_ntop(AF_INET, &address, out->host, sizeof(out->host));
		return 0;
	}
	/* 10.0.0.300 would pass as a DNS name, but is a wrong address. */
	if (!host[strspn(host, "0123456789.")])
		return err_set(err, ERR_INVALID, "\"%s\": \"%s\" is not an IPv4 address", whole, host);
	if (!is_dns_name(host))
		return err_set(err, ERR_INVALID,
			"\"%s\": \"%s\" is neither an address nor a DNS name (lower-case letters, digits, \"-\" and "
			"\".\")",
			whole, host);
	out->kind = OUTSIDEHOST_NAME;
	strcpy(out->host, host);
	return 0;
}

static int refuse_port(const char *whole, const char *port, struct err *err)
{
	return err_set(err, ERR_INVALID, "\"%s\": the port \"%s\" is not a number from 1 to 65535", whole, port);
}

int outsidehost_parse(const char *text, struct outsidehost *out, struct err *err)
{
	struct hostport at;
	const char *colon = strrchr(text, ':');

	switch (hostport_parse(text, &at)) {
	case HOSTPORT_BRACKETS: return err_set(err, ERR_INVALID, "\"%s\" is not of the form [ADDRESS]:PORT", text);
	case HOSTPORT_COLONS:
		return err_set(err, ERR_INVALID, "\"%s\": put an IPv6 address in brackets, such as [%.*s]:%s", text,
			(int)(colon - text), text, colon + 1);
	case HOSTPORT_LONG:
		return err_set(err, ERR_INVALID, "\"%.32s...\": the host is longer than %d characters", text,
			HOSTPORT_HOST_MAX);
	case HOSTPORT_PORT: return refuse_port(text, colon + 1, err);
	case HOSTPORT_GOOD: break;
	}
	if (!at.has_port && at.bracketed)
		return err_set(err, ERR_INVALID, "\"%s\" is not of the form [ADDRESS]:PORT", text);
	if (!at.has_port)
		return err_set(err, ERR_INVALID, "\"%s\" has no port: write HOST:PORT, such as %s:8443", text,
			*text ? text : "kscaled.example.com");
	if (!*at.host)
		return err_set(err, ERR_INVALID, "\"%s\" has no host before the port", text);
	if (at.port == 0)
		return refuse_port(text, colon + 1, err);
	memset(out, 0, sizeof(*out));
	out->port = at.port;
	return at.bracketed ? parse_ipv6(text, at.host, out, err) : parse_name_or_ipv4(text, at.host, out, err);
}
