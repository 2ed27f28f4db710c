/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/statusclient.h"

#include <curl/curl.h>
#include <string.h>

#include "base/hostport.h"
#include "base/json.h"
#include "base/mem.h"

#define CONNECT_MS 3000L
#define ALL_MS     15000L

static size_t on_bytes(char *bytes, size_t size, size_t count, void *arg)
{
	struct buf *body = arg;

	buf_append(body, bytes, size * count);
	return buf_failed(body) ? 0 : size * count;
}

/* "http://127.0.0.1:8080/path"; the caller owns it. NULL: the address is none. */
static char *url_of(const char *address, const char *path, struct err *err)
{
	MEM_AUTO char *place = NULL;
	struct hostport at;
	char *host = at.host;

	if (hostport_parse_listen(address, &at, err))
		return NULL;
	if (!*host || strcmp(host, "0.0.0.0") == 0)
		strcpy(host, "127.0.0.1");
	else if (strcmp(host, "::") == 0)
		strcpy(host, "::1");
	place = hostport_join(host, at.port);
	return mem_printf("http://%s%s", place, path);
}

static int transfer(const char *url, struct buf *body, long *status, char *why)
{
	CURL *curl = curl_easy_init();
	CURLcode code;

	if (!curl)
		return CURLE_FAILED_INIT;
	curl_easy_setopt(curl, CURLOPT_URL, url);
	curl_easy_setopt(curl, CURLOPT_PROTOCOLS_STR, "http");
	curl_easy_setopt(curl, CURLOPT_NOPROXY, "*");
	curl_easy_setopt(curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(curl, CURLOPT_CONNECTTIMEOUT_MS, CONNECT_MS);
	curl_easy_setopt(curl, CURLOPT_TIMEOUT_MS, ALL_MS);
	curl_easy_setopt(curl, CURLOPT_WRITEFUNCTION, on_bytes);
	curl_easy_setopt(curl, CURLOPT_WRITEDATA, body);
	curl_easy_setopt(curl, CURLOPT_ERRORBUFFER, why);
	code = curl_easy_perform(curl);
	curl_easy_getinfo(curl, CURLINFO_RESPONSE_CODE, status);
	if (code != CURLE_OK && !*why)
		snprintf(why, CURL_ERROR_SIZE, "%s", curl_easy_strerror(code));
	curl_easy_cleanup(curl);
	return (int)code;
}

static int check(const char *address, long status, const json_t *object, struct err *err)
{
	const char *message = json_str_or_empty(object, "message");

	if (status == 200 && json_is_object(object))
		return 0;
	if (status == 404 && strcmp(json_str_or_empty(object, "reason"), "NotFound") == 0)
		return err_set(err, ERR_MISSING, "%s", message);
	return err_set(err, ERR_TEMPORARY, "what answers at %s is no kscaled of this version: HTTP %ld%s%s", address,
		status, *message ? ": " : "", message);
}

int statusclient_get(const char *address, const char *path, struct buf *body, json_t **object, struct err *err)
{
	MEM_AUTO char *url = url_of(address, path, err);
	char why[CURL_ERROR_SIZE] = "";
	long status = 0;

	*object = NULL;
	if (!url)
		return err_wrap(err, "--status-address");
	if (transfer(url, body, &status, why))
		return err_set(err, ERR_TEMPORARY,
			"no kscaled can be reached at %s: %s; --status-address (KSCALED_STATUS_ADDRESS) says where it "
			"listens",
			address, why);
	*object = json_parse(buf_text(body), body->len, NULL);
	if (check(address, status, *object, err) == 0)
		return 0;
	json_decref(*object);
	*object = NULL;
	return -1;
}
