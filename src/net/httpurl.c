/* SPDX-License-Identifier: Apache-2.0 */
#include "net/httpurl.h"

#include <curl/curl.h>
#include <stdio.h>

#include "base/mem.h"

struct parts {
	char *scheme, *host, *port; /* owned by libcurl */
};

static void parts_done(struct parts *p)
{
	curl_free(p->scheme);
	curl_free(p->host);
	curl_free(p->port);
}

static int parts_get(CURLU *u, struct parts *p)
{
	*p = (struct parts){ .scheme = NULL };
	if (curl_url_get(u, CURLUPART_SCHEME, &p->scheme, 0) == CURLUE_OK && curl_url_get(u, CURLUPART_HOST, &p->host, 0) == CURLUE_OK
	    && curl_url_get(u, CURLUPART_PORT, &p->port, CURLU_DEFAULT_PORT) == CURLUE_OK)
		return 0;
	parts_done(p);
	return -1;
}

char *httpurl_origin(const char *url, char *out, size_t size)
{
	CURLU *u = curl_url();
	struct parts p;

	snprintf(out, size, "URL");
	if (curl_url_set(u, CURLUPART_URL, url, 0) == CURLUE_OK && parts_get(u, &p) == 0) {
		snprintf(out, size, "%s://%s:%s", p.scheme, p.host, p.port);
		parts_done(&p);
	}
	curl_url_cleanup(u);
	return out;
}

int httpurl_rename(const char *url, const char *server_name, char **renamed, char **route, char **host_header, struct err *err)
{
	CURLU *u = curl_url();
	struct parts p;
	char *text = NULL;
	int result = 0;

	if (curl_url_set(u, CURLUPART_URL, url, 0) != CURLUE_OK || parts_get(u, &p) < 0) {
		curl_url_cleanup(u);
		return err_set(err, ERR_INVALID, "the URL cannot be read");
	}
	if (curl_url_set(u, CURLUPART_HOST, server_name, 0) != CURLUE_OK || curl_url_get(u, CURLUPART_URL, &text, 0) != CURLUE_OK) {
		result = err_set(err, ERR_INVALID, "\"%s\" is no TLS server name", server_name);
	} else {
		*renamed = mem_dup(text);
		*route = mem_printf("%s:%s:%s:%s", server_name, p.port, p.host, p.port);
		*host_header = mem_printf("Host: %s:%s", p.host, p.port);
	}
	curl_free(text);
	parts_done(&p);
	curl_url_cleanup(u);
	return result;
}
