/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/aws/awsquery.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "net/http/httpstatus.h"
#include "net/http/httpurl.h"
#include "net/identity/awsregion.h"
#include "net/identity/awssts.h"
#include "scalers/login/awslogin.h"
#include "scalers/params.h"

/* Pause after throttling without Retry-After. */
#define THROTTLED_MS 5000

/* The parameters as written. Owns its texts. */
struct awsquery_fields {
	char *region, *endpoint;
};

#define AT(field) offsetof(struct awsquery_fields, field)
static const struct param_row rows[] = {
	{ "awsRegion", PARAM_TEXT, "ma", AT(region), .required = true, .help = "AWS region" },
	{ "awsEndpoint", PARAM_TEXT, "m", AT(endpoint), .help = "URL to ask instead of the region's endpoint" },
};
const struct param_table awsquery_table = PARAM_LOGIN_TABLE(rows);

/* ---- Building ---- */

/* With one trailing slash. */
static int take_url(const struct awsquery_fields *f, const char *service, char **url, struct err *err)
{
	MEM_AUTO char *usual = awsregion_url(service, f->region),
		      *clean = httpurl_without_user(f->endpoint ? f->endpoint : usual, err);

	if (!clean)
		return params_wrap(err, "awsEndpoint");
	httpurl_cut_slashes(clean);
	*url = mem_printf("%s/", clean);
	return 0;
}

int awsquery_login(struct scaler_build *b, const char *service, struct httplogin *out, struct err *err)
{
	const struct awsquery_fields *f = params_read_login(b, &awsquery_table, sizeof(*f), err);
	struct webaccess_config config = { .service = service };
	int rc = f ? awslogin_read(b->params, f->region, &config.identity, err) : -1;

	b->open |= rc == 1;
	if (rc < 0)
		return -1;
	if (b->open) {
		identity_unref(config.identity);
		return 0;
	}
	config.region = f->region;
	return httplogin_log_in(out, &config, err) || take_url(f, service, &out->url, err) ? -1 : 0;
}

/* ---- Asking ---- */

void awsquery_post_json(const struct httplogin *login, const char *target, const char *version, const char *body,
	struct webrequest *out)
{
	out->url = mem_dup(login->url);
	out->body = mem_dup(body);
	out->content_type = strcmp(version, "1.0") == 0 ? "application/x-amz-json-1.0" : "application/x-amz-json-1.1";
	strmap_set(&out->headers, "X-Amz-Target", target);
}

int awsquery_expect(const struct webresponse *answer, const char *action, struct err *err)
{
	MEM_AUTO char *words = NULL;
	int status = answer->status;
	bool throttled, denied;

	if (status == 200)
		return 0;
	words = awssts_error(answer->body, answer->len);
	throttled = status == 429 || awssts_is_throttled(answer->body, answer->len);
	denied = status == 403 && !throttled;
	err_set(err,
		throttled               ? ERR_TEMPORARY
			: status == 400 ? ERR_INVALID
					: httpstatus_kind(status),
		"HTTP status %d%s%s%s%s", status, words ? ", " : "", words ? words : "",
		denied ? "; missing permission: " : "", denied ? action : "");
	err->http_status = status;
	err->retry_after_ms = throttled && !answer->retry_after_ms ? THROTTLED_MS : answer->retry_after_ms;
	return -1;
}
