/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/sourceplace.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <strings.h>

#define HOST_MAX 254

/* The host of "host:port", "http://user@host/path", "[::1]:9092"; false: empty or too long. */
static bool host_in(const char *place, size_t len, char host[HOST_MAX])
{
	const char *scheme = memmem(place, len, "://", 3), *end = place + len, *at;

	if (scheme)
		place = scheme + 3;
	len = strcspn(place, "/?#");
	if (place + len < end)
		end = place + len;
	at = memrchr(place, '@', (size_t)(end - place));
	if (at)
		place = at + 1;
	if (place < end && *place == '[') {
		place++;
		len = strcspn(place, "]");
	} else {
		len = strcspn(place, ":");
	}
	if (len > (size_t)(end - place))
		len = (size_t)(end - place);
	if (len == 0 || len >= HOST_MAX)
		return false;
	memcpy(host, place, len);
	host[len] = '\0';
	return true;
}

static bool is_localhost(const char *host)
{
	static const char name[] = "localhost", below[] = ".localhost";
	size_t len = strlen(host), tail = sizeof(below) - 1;

	return strcasecmp(host, name) == 0 || (len > tail && strcasecmp(host + len - tail, below) == 0);
}

static int judge_host(const struct sourcerules *rules, const char *host, struct err *err)
{
	struct sockaddr_in v4 = { .sin_family = AF_INET };
	struct sockaddr_in6 v6 = { .sin6_family = AF_INET6 };

	if (inet_pton(AF_INET, is_localhost(host) ? "127.0.0.1" : host, &v4.sin_addr) == 1)
		return sourcerules_judge(rules, (const struct sockaddr *)&v4, sizeof(v4), err);
	if (inet_pton(AF_INET6, host, &v6.sin6_addr) == 1)
		return sourcerules_judge(rules, (const struct sockaddr *)&v6, sizeof(v6), err);
	return 0;
}

/* "redis 10.0.0.7:6379", "kafka a:9092, b:9092": other words pass, as they are no address. */
int sourceplace_judge(const struct sourcerules *rules, const char *source, struct err *err)
{
	static const char between[] = " ,;()\"";
	size_t len;

	for (source += strspn(source, between); *source; source += len + strspn(source + len, between)) {
		char host[HOST_MAX], path[HOST_MAX];

		len = strcspn(source, between);
		if (*source == '/' && len < sizeof(path)) {
			memcpy(path, source, len);
			path[len] = '\0';
			if (sourcerules_judge_path(rules, path, err))
				return -1;
		} else if (host_in(source, len, host) && judge_host(rules, host, err)) {
			return -1;
		}
	}
	return 0;
}
