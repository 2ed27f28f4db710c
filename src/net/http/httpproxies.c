/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http/httpproxies.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/hostport.h"
#include "base/mem.h"
#include "base/text.h"

/* The variables that libcurl and net/http/httphost read. */
static const char *const variables[] = { "http_proxy", "HTTP_PROXY", "https_proxy", "HTTPS_PROXY", "all_proxy",
	"ALL_PROXY" };

/* libcurl's default. */
#define PORT     1080
#define PORT_TLS 443

static bool is_host(const char *host, const struct sockaddr *address)
{
	struct in6_addr v6;
	struct in_addr v4;

	if (address->sa_family == AF_INET) {
		const struct in_addr *at = &((const struct sockaddr_in *)address)->sin_addr;

		return strcasecmp(host, "localhost") == 0
			? at->s_addr == htonl(INADDR_LOOPBACK)
			: inet_pton(AF_INET, host, &v4) == 1 && memcmp(&v4, at, sizeof(v4)) == 0;
	} else {
		const struct in6_addr *at = &((const struct sockaddr_in6 *)address)->sin6_addr;

		return strcasecmp(host, "localhost") == 0
			? IN6_IS_ADDR_LOOPBACK(at)
			: inet_pton(AF_INET6, host, &v6) == 1 && memcmp(&v6, at, sizeof(v6)) == 0;
	}
}

/* "http://user:password@127.0.0.1:3128/"; scheme, user and path are optional. */
static bool is_at(const char *proxy, const struct sockaddr *address, uint16_t port)
{
	const char *scheme = strstr(proxy, "://"), *rest = scheme ? scheme + 3 : proxy;
	size_t len = strcspn(rest, "/?#");
	const char *user = memrchr(rest, '@', len), *from = user ? user + 1 : rest;
	MEM_AUTO char *text = mem_dupn(from, (size_t)(rest + len - from));
	struct hostport at;

	if (hostport_parse(text, &at) != HOSTPORT_GOOD)
		return false;
	if (!at.has_port)
		at.port = text_begins(proxy, "https://") ? PORT_TLS : PORT;
	return at.port == port && is_host(at.host, address);
}

bool httpproxies_have(const struct sockaddr *address)
{
	bool v4 = address->sa_family == AF_INET, has = false;
	uint16_t port;

	if (!v4 && address->sa_family != AF_INET6)
		return false;
	port = ntohs(v4 ? ((const struct sockaddr_in *)address)->sin_port
			: ((const struct sockaddr_in6 *)address)->sin6_port);
	for (size_t i = 0; i < MEM_COUNT(variables) && !has; i++) {
		const char *proxy = getenv(variables[i]);

		has = proxy && *proxy && is_at(proxy, address, port);
	}
	return has;
}
