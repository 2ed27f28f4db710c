/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http/httpclear.h"

#include <strings.h>

bool httpclear_is_needed(const char *url)
{
	return strncasecmp(url, "http:", 5) == 0 && curl_version_info(CURLVERSION_NOW)->version_num < 0x080000;
}

void httpclear_init(struct httpclear_call *call, struct httpclear_pool *pool)
{
	*call = (struct httpclear_call){ .pool = pool };
}

bool httpclear_must_wait(const struct httpclear_call *call)
{
	return call->pool && call->waits && call->pool->opener;
}

bool httpclear_goes_on(struct httpclear_call *call)
{
	if (!call->pool || !call->joins || !call->stranded)
		return false;
	if (call->pool->opener)
		call->waits = true; /* and then reuses the opener's connection */
	else
		call->pool->opener = call;
	return true;
}

void httpclear_done(struct httpclear_call *call)
{
	if (!call->pool || call->pool->opener != call)
		return;
	call->pool->opener = NULL;
	call->pool->changed = true;
}

static int on_curl_connected(void *arg, char *remote, char *local, int remote_port, int local_port)
{
	(void)remote;
	(void)local;
	(void)remote_port;
	(void)local_port;
	httpclear_done(arg);
	return CURL_PREREQFUNC_OK;
}

bool httpclear_may_open(struct httpclear_call *call)
{
	if (call->joins)
		call->stranded = true;
	return !call->joins;
}

void httpclear_set(struct httpclear_call *call, CURL *easy)
{
	bool opens = call->pool && call->pool->opener == call;

	if (!call->pool)
		return;
	call->joins = !opens;
	call->stranded = call->waits = false;
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
		opens ? CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE : CURL_HTTP_VERSION_2TLS);
	curl_easy_setopt(easy, CURLOPT_FRESH_CONNECT, opens ? 1L : 0L);
	curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_curl_connected);
	curl_easy_setopt(easy, CURLOPT_PREREQDATA, call);
}
