/* SPDX-License-Identifier: Apache-2.0 */
#include "net/identity/disclosure.h"

#include <string.h>
#include <strings.h>

#include "base/dnsname.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/http/httpurl.h"
#include "net/identity/awsregion.h"

#define LETTERS      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
#define HOST_LETTERS LETTERS "0123456789-."

/* ---- The vendors' hosts ---- */

static bool is_azures(const struct disclosure *d, const char *name, const char *port)
{
	(void)port;
	return azurecloud_has_host(name, d->service);
}

/* "monitoring.us-east4.rep.googleapis.com"; the region is a single label. */
static bool is_region_of_monitoring(const char *name)
{
	const char *region = text_behind_nocase(name, "monitoring.");
	size_t len = region ? strspn(region, LETTERS "0123456789-") : 0;

	return len > 0 && strcasecmp(region + len, ".rep.googleapis.com") == 0;
}

/* Only Google answers on these. */
static bool is_googles(const struct disclosure *d, const char *name, const char *port)
{
	(void)d;
	return strcmp(port, "443") == 0 &&
		(text_equal_nocase(name, "monitoring.googleapis.com") ||
			text_equal_nocase(name, "secretmanager.googleapis.com") || is_region_of_monitoring(name));
}

/* "b-1.shop.abc123.c2.kafka.eu-west-1.amazonaws.com": only AWS has such names. */
static bool is_msks(const struct disclosure *d, const char *name, const char *port)
{
	static const char *const services[] = { "kafka", "kafka-serverless" };
	bool is = false;

	(void)port;
	for (size_t i = 0; i < MEM_COUNT(services) && !is; i++) {
		MEM_AUTO char *domain = awsregion_host(services[i], d->region);

		is = dnsname_is_below(name, domain);
	}
	return is;
}

static const struct {
	const char *name, *hosts;
	const char *option; /* NULL: none */
	bool (*has)(const struct disclosure *d, const char *name, const char *port);
} clouds[] = {
	[DISCLOSURE_AZURE] = { "Azure", "Microsoft's hosts", "--azure-trusted-hosts", is_azures },
	[DISCLOSURE_GOOGLE] = { "Google", "Google's hosts", NULL, is_googles },
	[DISCLOSURE_MSK] = { "AWS", "Amazon MSK's hosts", "--aws-trusted-hosts", is_msks },
};

/* ---- The decision ---- */

/* A host or domain of the list: "core.local" includes "queue.core.local". */
static bool is_listed(const char *name, const char *list)
{
	size_t name_len = strlen(name);

	for (const char *at = list ? list : ""; *at;) {
		size_t len = strcspn(at, ", "), behind = name_len - len;

		if ((len == 1 && *at == '*') ||
			(len > 0 && len <= name_len && strncasecmp(name + behind, at, len) == 0 &&
				(behind == 0 || name[behind - 1] == '.')))
			return true;
		at += len + strspn(at + len, ", ");
	}
	return false;
}

/* A strict syntax: no URL parser may read another host from it than is checked here. */
static int check_host(const struct disclosure *d, struct err *err)
{
	const char *host = d->host, *option = clouds[d->cloud].option;
	size_t len = strcspn(host, ":");
	MEM_AUTO char *name = mem_dupn(host, len);
	const char *port = host[len] ? host + len + 1 : "443";
	bool other = d->cloud == DISCLOSURE_AZURE && d->service == AZURECLOUD_NONE;

	if (len == 0 || strspn(name, HOST_LETTERS) != len || !*port || strlen(port) > 5 ||
		strspn(port, "0123456789") != strlen(port))
		return err_set(err, ERR_INVALID, "\"%.200s\" is not a host name", host);
	if (clouds[d->cloud].has(d, name, port) || is_listed(name, d->trusted))
		return 0;
	return err_set(err, ERR_INVALID,
		"%.200s is not one of %s%s%s%s, and kscaled shows its own %s token to no other%s%s", name,
		clouds[d->cloud].hosts, other ? "" : " for this service", d->region ? " in " : "",
		d->region ? d->region : "", clouds[d->cloud].name,
		option ? "; an administrator can allow it with " : "", option ? option : "");
}

char *disclosure_take_url(struct disclosure *d, const char *url, struct err *err)
{
	struct httpurl_place place;
	char *host;

	if (httpurl_place(url, &place, err))
		return NULL;
	d->host = host = httpurl_host_header(&place);
	d->clear = strcmp(place.scheme, "https") != 0;
	httpurl_place_done(&place);
	return host;
}

int disclosure_check(const struct disclosure *d, struct err *err)
{
	const char *cloud = clouds[d->cloud].name;

	if (d->clear)
		return err_set(err, ERR_INVALID,
			"must begin with https://: kscaled shows its own %s token only over TLS", cloud);
	if (d->insecure || d->own_ca)
		return err_set(err, ERR_INVALID,
			"parameter \"%s\" does not go together with kscaled's own %s identity: its token goes only to "
			"servers that the system's roots verify",
			d->own_ca ? "ca" : "unsafeSsl", cloud);
	return check_host(d, err);
}
