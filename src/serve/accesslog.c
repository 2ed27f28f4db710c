/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/accesslog.h"

#include <stdlib.h>

#include "base/log.h"
#include "base/mem.h"
#include "serve/request.h"

char *accesslog_describe(const struct request *r)
{
	const char *agent;

	if (!log_enabled(LOG_LEVEL_DEBUG))
		return NULL;
	agent = httpd_header(r->http, "User-Agent");
	return mem_printf("%s %.2048s from=%s agent=%.256s", r->method, httpd_uri(r->http), httpd_peer(r->http),
		agent ? agent : "-");
}

void accesslog_write(const struct request *r, int status, int64_t took_us)
{
	char *now = NULL;

	if (!log_enabled(LOG_LEVEL_DEBUG))
		return;
	if (!r->logged && r->http)
		now = accesslog_describe(r);
	log_debug("access", "%s user=%.256s code=%d latency=%lld.%03lldms",
		r->logged     ? r->logged
			: now ? now
			      : r->method,
		r->user ? r->user->user.name : "-", status, (long long)(took_us / 1000), (long long)(took_us % 1000));
	free(now);
}
