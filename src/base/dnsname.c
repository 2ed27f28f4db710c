/* SPDX-License-Identifier: Apache-2.0 */
#include "base/dnsname.h"

#include <string.h>
#include <strings.h>

#define LABEL_MAX     63
#define SUBDOMAIN_MAX 253

bool dnsname_is_subdomain(const char *text, size_t len)
{
	if (len == 0 || len > SUBDOMAIN_MAX)
		return false;
	for (size_t i = 0; i < len; i++) {
		char before = i == 0 ? '.' : text[i - 1], after = i + 1 == len ? '.' : text[i + 1];
		bool joint = text[i] == '-' || text[i] == '.';

		if (!(text[i] >= 'a' && text[i] <= 'z') && !(text[i] >= '0' && text[i] <= '9') &&
			!(joint && before != '.' && after != '.'))
			return false;
	}
	return true;
}

bool dnsname_is_label(const char *text, size_t len)
{
	return len <= LABEL_MAX && !memchr(text, '.', len) && dnsname_is_subdomain(text, len);
}

bool dnsname_is_below(const char *host, const char *domain)
{
	size_t len = strlen(host), end = strlen(domain);

	return len > end + 1 && host[len - end - 1] == '.' && strcasecmp(host + len - end, domain) == 0;
}
