/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/join/reach.h"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/dnsname.h"
#include "base/hostport.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/outsidehost.h"

/* Any address on the internet (RFC 5737): connecting a datagram socket sends nothing. */
#define ELSEWHERE "203.0.113.1"

/* ---- Candidates ---- */

static void add(struct reach_addr *out, size_t *count, const char *host, unsigned port, const char *why)
{
	char *text = host ? hostport_join(host, port) : NULL;
	struct outsidehost checked;
	bool is_new = text && outsidehost_parse(text, &checked, NULL) == 0;

	for (size_t i = 0; is_new && i < *count; i++)
		is_new = strcmp(out[i].host, text) != 0;
	if (is_new)
		out[(*count)++] = (struct reach_addr){ .host = text, .why = why };
	else
		free(text);
}

size_t reach_addrs(const struct reach_facts *facts, unsigned port, struct reach_addr out[REACH_MAX])
{
	size_t count = 0;

	add(out, &count, facts->node_address, port, "this host is a node of the cluster");
	add(out, &count, facts->route_address, port,
		facts->server_is_here ? "this host's address" : "the address used towards the API server");
	add(out, &count, facts->server_is_here ? "localhost" : NULL, port, "the API server runs on this host");
	add(out, &count, facts->dns_name, port, "this host's name");
	return count;
}

void reach_addrs_done(struct reach_addr *addrs, size_t count)
{
	for (size_t i = 0; i < count; i++)
		free(addrs[i].host);
}

/* ---- Looking ---- */

static bool is_loopback(const struct sockaddr *a)
{
	if (a->sa_family == AF_INET)
		return ntohl(((const struct sockaddr_in *)(const void *)a)->sin_addr.s_addr) >> 24 == 127;
	return a->sa_family == AF_INET6 &&
		IN6_IS_ADDR_LOOPBACK(&((const struct sockaddr_in6 *)(const void *)a)->sin6_addr);
}

static char *text_of(const struct sockaddr *a)
{
	char text[INET6_ADDRSTRLEN] = "";

	if (a->sa_family == AF_INET)
		inet_ntop(AF_INET, &((const struct sockaddr_in *)(const void *)a)->sin_addr, text, sizeof(text));
	else if (a->sa_family == AF_INET6)
		inet_ntop(AF_INET6, &((const struct sockaddr_in6 *)(const void *)a)->sin6_addr, text, sizeof(text));
	return *text ? mem_dup(text) : NULL;
}

bool reach_is_own_address(const char *address)
{
	struct ifaddrs *all, *one;
	bool found = false;

	if (getifaddrs(&all) < 0)
		return false;
	for (one = all; one && !found; one = one->ifa_next) {
		MEM_AUTO char *text = one->ifa_addr && one->ifa_flags & IFF_UP ? text_of(one->ifa_addr) : NULL;

		found = text && strcmp(text, address) == 0;
	}
	freeifaddrs(all);
	return found;
}

/* The source address of a connection to host; *here: host is this one. NULL: none. */
static char *source_towards(const char *host, bool *here)
{
	struct addrinfo hints = { .ai_socktype = SOCK_DGRAM, .ai_protocol = IPPROTO_UDP }, *found = NULL;
	struct sockaddr_storage own = { .ss_family = AF_UNSPEC };
	socklen_t len = sizeof(own);
	char *text = NULL, *peer;
	int fd;

	if (getaddrinfo(host, "443", &hints, &found) != 0)
		return NULL;
	fd = socket(found->ai_family, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	peer = text_of(found->ai_addr);
	if (fd >= 0 && connect(fd, found->ai_addr, found->ai_addrlen) == 0 &&
		getsockname(fd, (struct sockaddr *)&own, &len) == 0) {
		*here = is_loopback(found->ai_addr) || (peer && reach_is_own_address(peer));
		text = is_loopback((struct sockaddr *)&own) ? NULL : text_of((struct sockaddr *)&own);
	}
	if (fd >= 0)
		close(fd);
	free(peer);
	freeaddrinfo(found);
	return text;
}

/* The host's name, if fully qualified. */
static char *own_name(void)
{
	char name[256] = "";

	if (gethostname(name, sizeof(name) - 1) < 0 || !strchr(name, '.') || !dnsname_is_subdomain(name, strlen(name)))
		return NULL;
	return mem_dup(name);
}

void reach_look(const char *server, struct reach_facts *out)
{
	const char *begin = text_behind(server, "https://");
	MEM_AUTO char *place = NULL;
	struct hostport at;
	bool ignored;

	*out = (struct reach_facts){ .dns_name = own_name() };
	begin = begin ? begin : server;
	place = mem_dupn(begin, strcspn(begin, "/"));
	if (hostport_parse(place, &at) == HOSTPORT_GOOD)
		out->route_address = source_towards(at.host, &out->server_is_here);
	if (!out->route_address && out->server_is_here)
		out->route_address = source_towards(ELSEWHERE, &ignored);
}

void reach_facts_done(struct reach_facts *facts)
{
	free(facts->node_address);
	free(facts->route_address);
	free(facts->dns_name);
}
