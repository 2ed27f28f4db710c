/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/status.h"

#include <stdio.h>
#include <string.h>

#include "base/json.h"

#define STATUS_SIZE_MAX (256 * 1024) /* a Status is small; validation causes can be many */
#define QUOTE_MAX       160

static const struct {
	int http_status;
	enum err_kind kind;
} kinds[] = {
	{ 401, ERR_DENIED },
	{ 403, ERR_DENIED },
	{ 404, ERR_MISSING },
	{ 408, ERR_TEMPORARY },
	{ 409, ERR_CONFLICT },
	{ 410, ERR_GONE },
	{ 425, ERR_TEMPORARY },
	{ 429, ERR_TEMPORARY },
};

static enum err_kind kind_of(int http_status)
{
	for (size_t i = 0; i < sizeof kinds / sizeof *kinds; i++)
		if (kinds[i].http_status == http_status)
			return kinds[i].kind;
	return http_status >= 500 ? ERR_TEMPORARY : ERR_INVALID;
}

static int64_t retry_after_of(const json_t *status)
{
	const json_t *seconds = json_object_get(json_object_get(status, "details"), "retryAfterSeconds");
	json_int_t s = json_is_integer(seconds) ? json_integer_value(seconds) : 0;

	if (s <= 0)
		return 0;
	return s < STATUS_RETRY_AFTER_MAX_MS / 1000 ? s * 1000 : STATUS_RETRY_AFTER_MAX_MS;
}

static int64_t within_bound(int64_t retry_after_ms)
{
	return retry_after_ms < STATUS_RETRY_AFTER_MAX_MS ? retry_after_ms : STATUS_RETRY_AFTER_MAX_MS;
}

static void fill(const json_t *status, int http_status, int64_t retry_after_ms, struct err *err)
{
	const char *message = json_str_or_empty(status, "message"), *reason = json_str_or_empty(status, "reason");

	if (*message)
		err_set(err, kind_of(http_status), "%s", message);
	else
		err_set(err, kind_of(http_status), "HTTP %d%s%s from the API server", http_status, *reason ? " " : "",
			reason);
	err->http_status = http_status;
	err->retry_after_ms = retry_after_ms ? within_bound(retry_after_ms) : retry_after_of(status);
}

void status_to_err(int http_status, const char *body, size_t len, int64_t retry_after_ms, struct err *err)
{
	json_t *object = len && len <= STATUS_SIZE_MAX ? json_parse(body, len, NULL) : NULL;
	char text[QUOTE_MAX];

	if (json_str_is(object, "kind", "Status")) {
		fill(object, http_status, retry_after_ms, err);
	} else {
		/*
		 * Quotes its first line, unless it is an object, which may be a Secret or a token.
		 */
		snprintf(text, sizeof text, "%.*s", (int)(len < QUOTE_MAX ? len : QUOTE_MAX - 1), len ? body : "");
		text[text[strspn(text, " \t\r\n")] == '{' ? 0 : strcspn(text, "\r\n")] = '\0';
		err_set(err, kind_of(http_status), "HTTP %d from the API server%s%s", http_status, *text ? ": " : "",
			text);
		err->http_status = http_status;
		err->retry_after_ms = within_bound(retry_after_ms);
	}
	json_decref(object);
}

void status_object_to_err(const json_t *status, struct err *err)
{
	const json_t *code = json_object_get(status, "code");
	const char *reason = json_str_or_empty(status, "reason");
	json_int_t http_status = json_is_integer(code) ? json_integer_value(code) : 0;

	if (strcmp(reason, "Expired") == 0 || strcmp(reason, "Gone") == 0)
		http_status = 410;
	if (http_status < 100 || http_status > 599)
		http_status = 500;
	fill(status, (int)http_status, 0, err);
}
