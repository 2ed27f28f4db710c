/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/apistatus.h"

/*
 * The 503 of a metric has no Retry-After: client-go would sleep and retry up to ten times, and one
 * failing source would block a worker of the HPA controller meanwhile.
 */
static const struct apistatus_terms statuses[] = {
	[APISTATUS_BAD_REQUEST] = { 400, "BadRequest", NULL, NULL },
	[APISTATUS_UNAUTHORIZED] = { 401, "Unauthorized", "WWW-Authenticate", "Bearer" },
	[APISTATUS_FORBIDDEN] = { 403, "Forbidden", NULL, NULL },
	[APISTATUS_NOT_FOUND] = { 404, "NotFound", NULL, NULL },
	[APISTATUS_METHOD_NOT_ALLOWED] = { 405, "MethodNotAllowed", NULL, NULL },
	[APISTATUS_NOT_ACCEPTABLE] = { 406, "NotAcceptable", NULL, NULL },
	[APISTATUS_UNSUPPORTED_MEDIA_TYPE] = { 415, "UnsupportedMediaType", NULL, NULL },
	[APISTATUS_TOO_MANY_REQUESTS] = { 429, "TooManyRequests", "Retry-After", "1" },
	[APISTATUS_INTERNAL_ERROR] = { 500, "InternalError", NULL, NULL },
	[APISTATUS_UNAVAILABLE] = { 503, "ServiceUnavailable", NULL, NULL },
	[APISTATUS_NOT_YET] = { 503, "ServiceUnavailable", "Retry-After", "1" },
};

void apistatus_write(struct buf *out, enum apistatus what, const char *message)
{
	buf_puts(out, "{\"kind\":\"Status\",\"apiVersion\":\"v1\",\"metadata\":{},\"status\":\"Failure\",\"message\":");
	buf_put_json(out, message);
	buf_printf(out, ",\"reason\":\"%s\",", statuses[what].reason);
	if (what == APISTATUS_TOO_MANY_REQUESTS || what == APISTATUS_NOT_YET)
		buf_puts(out, "\"details\":{\"retryAfterSeconds\":1},");
	buf_printf(out, "\"code\":%d}\n", statuses[what].code);
}

const struct apistatus_terms *apistatus_terms(enum apistatus what)
{
	return &statuses[what];
}
