/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http/httpurl.h"

#include <ctype.h>
#include <curl/curl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

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
	if (curl_url_get(u, CURLUPART_SCHEME, &p->scheme, 0) == CURLUE_OK &&
		curl_url_get(u, CURLUPART_HOST, &p->host, 0) == CURLUE_OK &&
		curl_url_get(u, CURLUPART_PORT, &p->port, CURLU_DEFAULT_PORT) == CURLUE_OK)
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

int httpurl_rename(const char *url, const char *server_name, char **renamed, char **route, char **host_header,
	struct err *err)
{
	CURLU *u = curl_url();
	struct parts p;
	char *text = NULL;
	int result = 0;

	if (curl_url_set(u, CURLUPART_URL, url, 0) != CURLUE_OK || parts_get(u, &p) < 0) {
		curl_url_cleanup(u);
		return err_set(err, ERR_INVALID, "the URL cannot be read");
	}
	if (curl_url_set(u, CURLUPART_HOST, server_name, 0) != CURLUE_OK ||
		curl_url_get(u, CURLUPART_URL, &text, 0) != CURLUE_OK) {
		result = err_set(err, ERR_INVALID, "\"%s\" is not a TLS server name", server_name);
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

/* NULL when the URL has no such part. */
static char *piece(CURLU *u, CURLUPart part, unsigned flags)
{
	char *text = NULL, *copy;

	if (curl_url_get(u, part, &text, flags) != CURLUE_OK)
		return NULL;
	copy = mem_dup(text);
	mem_wipe(text, strlen(text));
	curl_free(text);
	return copy;
}

/*
 * libcurl does not decode control characters: without this check the wrong user, or none, would log
 * in.
 */
static bool can_be_decoded(CURLU *u, CURLUPart part)
{
	char *text = NULL;
	CURLUcode code = curl_url_get(u, part, &text, CURLU_URLDECODE);

	if (text)
		mem_wipe(text, strlen(text));
	curl_free(text);
	return code != CURLUE_URLDECODE;
}

static int read_web_url(CURLU *u, const char *url, struct err *err)
{
	CURLUcode code;

	if (strncasecmp(url, "http://", 7) != 0 && strncasecmp(url, "https://", 8) != 0)
		return err_set(err, ERR_INVALID, "must be a URL that begins with http:// or https://");
	code = curl_url_set(u, CURLUPART_URL, url, 0);
	if (code != CURLUE_OK)
		return err_set(err, ERR_INVALID, "is not a URL: %s", curl_url_strerror(code));
	return 0;
}

int httpurl_split_user(const char *url, char **clean, char **user, char **password, struct err *err)
{
	CURLU *u = curl_url();

	*clean = *user = *password = NULL;
	if (read_web_url(u, url, err) < 0) {
		curl_url_cleanup(u);
		return -1;
	}
	if (!can_be_decoded(u, CURLUPART_USER) || !can_be_decoded(u, CURLUPART_PASSWORD)) {
		curl_url_cleanup(u);
		return err_set(err, ERR_INVALID, "user or password in it has a control character");
	}
	*user = piece(u, CURLUPART_USER, CURLU_URLDECODE);
	*password = piece(u, CURLUPART_PASSWORD, CURLU_URLDECODE);
	curl_url_set(u, CURLUPART_USER, NULL, 0);
	curl_url_set(u, CURLUPART_PASSWORD, NULL, 0);
	curl_url_set(u, CURLUPART_FRAGMENT, NULL, 0);
	*clean = piece(u, CURLUPART_URL, 0);
	curl_url_cleanup(u);
	return 0;
}

char *httpurl_without_user(const char *url, struct err *err)
{
	char *clean, *user, *password;

	httpurl_split_user(url, &clean, &user, &password, err);
	free(user);
	mem_free_secret(password);
	return clean;
}

void httpurl_cut_slashes(char *url)
{
	for (size_t len = strlen(url); len > 0 && url[len - 1] == '/'; len--)
		url[len - 1] = '\0';
}

static void unbracket(char *host)
{
	size_t len = strlen(host);

	if (len > 2 && host[0] == '[' && host[len - 1] == ']') {
		memmove(host, host + 1, len - 2);
		host[len - 2] = '\0';
	}
}

int httpurl_place(const char *url, struct httpurl_place *out, struct err *err)
{
	CURLU *u = curl_url();
	MEM_AUTO char *port = NULL;

	memset(out, 0, sizeof(*out));
	if (read_web_url(u, url, err) < 0) {
		curl_url_cleanup(u);
		return -1;
	}
	out->scheme = piece(u, CURLUPART_SCHEME, 0);
	out->host = piece(u, CURLUPART_HOST, 0);
	port = piece(u, CURLUPART_PORT, CURLU_DEFAULT_PORT);
	curl_url_cleanup(u);
	unbracket(out->host);
	for (char *c = out->host; *c; c++)
		*c = (char)tolower((unsigned char)*c);
	out->port = (uint16_t)strtoul(port, NULL, 10);
	return 0;
}

void httpurl_place_done(struct httpurl_place *p)
{
	mem_free_ptr(&p->scheme);
	mem_free_ptr(&p->host);
}

char *httpurl_host_header(const struct httpurl_place *p)
{
	bool is_usual = p->port == (strcmp(p->scheme, "https") == 0 ? 443 : 80), is_v6 = strchr(p->host, ':') != NULL;
	MEM_AUTO char *host = is_v6 ? mem_printf("[%s]", p->host) : mem_dup(p->host);

	return is_usual ? mem_dup(host) : mem_printf("%s:%u", host, (unsigned)p->port);
}

bool httpurl_is_same(const struct httpurl_place *a, const struct httpurl_place *b)
{
	return strcmp(a->scheme, b->scheme) == 0 && strcmp(a->host, b->host) == 0 && a->port == b->port;
}

bool httpurl_may_follow(const struct httpurl_place *from, const struct httpurl_place *to)
{
	if (httpurl_is_same(from, to))
		return true;
	return strcmp(from->host, to->host) == 0 && strcmp(from->scheme, "http") == 0 &&
		strcmp(to->scheme, "https") == 0;
}

char *httpurl_with_parameter(const char *url, const char *name, const char *value)
{
	struct buf out = BUF_INIT(strlen(url) + 3 * (strlen(name) + strlen(value)) + 3);

	buf_reserve(&out, out.cap);
	buf_puts(&out, url);
	buf_putc(&out, strchr(url, '?') ? '&' : '?');
	buf_put_percent(&out, name, "");
	buf_putc(&out, '=');
	buf_put_percent(&out, value, "");
	return buf_take(&out);
}
