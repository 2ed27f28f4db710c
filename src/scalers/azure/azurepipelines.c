/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trigger type `azure-pipelines` (doc/keda.md 8.27): jobs that wait for an agent in a pool of Azure
 * DevOps. Over scalers/http/httpsource; pipelinejobs counts.
 */
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "net/http/httpurl.h"
#include "scalers/azure/pipelinejobs.h"
#include "scalers/http/httpsource.h"
#include "scalers/login/azurelogin.h"
#include "scalers/params.h"
#include "scalers/types.h"

/* 250 jobs take about 1 MiB. */
#define ANSWER_MAX ((size_t)4 << 20)
#define URL_MAX    ((size_t)1 << 14)

struct pipelines {
	struct httplogin login;
	char *url;                    /* of the organization, without user and password */
	char *pool_name;              /* NULL: pool_id is given */
	int64_t pool_id;              /* with a pool_name: 0, or looked up */
	bool learned;                 /* pool_id is looked up */
	int64_t fetched;              /* jobs to fetch; 0: all, as the server orders them */
	enum param_switch unfinished; /* ON: without completed jobs */
	char *parent;                 /* NULL */
	struct param_list demands;
	bool same, all_of_ours, any_case, in_flight;
};

#define AT(field) offsetof(struct pipelines, field)
static const struct param_row rows[] = {
	{ "organizationURL", PARAM_TEXT, "eam", AT(login.url), .required = true,
		.help = "https://dev.azure.com/ORGANIZATION" },
	{ "poolName", PARAM_TEXT, "m", AT(pool_name), .help = "name of the agent pool" },
	{ "poolID", PARAM_INT64, "m", AT(pool_id), .most = INT32_MAX,
		.help = "number of the agent pool, instead of poolName" },
	{ "parent", PARAM_TEXT, "m", AT(parent), .help = "name of an agent: count the jobs that it could run" },
	{ "demands", PARAM_LIST, "m", AT(demands),
		.help = "capabilities of our agents: count jobs that demand no others" },
	{ "requireAllDemands", PARAM_BOOL, "m", AT(same), .help = "true: count jobs that demand exactly these" },
	{ "requireAllDemandsAndIgnoreOthers", PARAM_BOOL, "m", AT(all_of_ours),
		.help = "true: count jobs that demand at least these" },
	{ "caseInsensitiveDemandsProcessing", PARAM_BOOL, "m", AT(any_case),
		.help = "true: compare demands regardless of case" },
	{ "jobsToFetch", PARAM_INT64, "m", AT(fetched), .least = 1, .most = 10000,
		.help = "most jobs to fetch (default: 250)" },
	{ "fetchUnfinishedJobsOnly", PARAM_SWITCH, "m", AT(unfinished), .help = "true: do not fetch finished jobs" },
	{ "scaleOnInFlight", PARAM_BOOL, "m", AT(in_flight), .otherwise = "true",
		.help = "true: jobs that an agent has received count, too" },
	{ "targetPipelinesQueueLength", PARAM_WHOLE_TARGET, "m", .otherwise = "1", .help = "target: jobs per replica" },
	{ "activationTargetPipelinesQueueLength", PARAM_WHOLE_ACTIVATION, "m",
		.help = "active above this number of jobs" },
};
static const struct param_table table = PARAM_TABLE(rows);

struct pipelines_login {
	char *token;
};

static const struct param_row login_rows[] = {
	{ "personalAccessToken", PARAM_TEXT, "ae", offsetof(struct pipelines_login, token),
		.help = "personal access token with the scope Agent Pools (Read)" },
};
static const struct param_table login_table = PARAM_LOGIN_TABLE(login_rows);

/* ---- Building ---- */

/* Checks across rows. A pool's name takes precedence over its number, as in KEDA. */
static int check(const struct pipelines *f, struct err *err)
{
	if (f->fetched && f->unfinished != PARAM_UNSET)
		return err_set_about(err, "jobsToFetch",
			"cannot specify both jobsToFetch and fetchUnfinishedJobsOnly at the same time");
	if (f->fetched && f->parent)
		return err_set_about(err, "jobsToFetch", "cannot specify both jobsToFetch and parent at the same time");
	if (f->login.url && f->login.url[strlen(f->login.url) - 1] == '/')
		return params_wrong(err, "organizationURL",
			": failed to extract organization name from organizationURL: it "
			"must not end with a slash");
	if (!f->pool_name && f->pool_id <= 0)
		return err_set_about(err, "poolName", "no poolName or poolID given");
	if (f->demands.count > PIPELINEJOBS_DEMANDS_MAX)
		return params_wrong(err, "demands", ": %zu are given, at most %d are allowed", f->demands.count,
			PIPELINEJOBS_DEMANDS_MAX);
	return 0;
}

/* Basic authentication with an empty user name, which webaccess cannot express. */
static int log_in_by_token(const char *token, struct httplogin *out, struct err *err)
{
	char *pair = mem_printf(":%s", token), *encoded = base64_encode(pair, strlen(pair)),
	     *value = mem_printf("Basic %s", encoded);
	struct webaccess_config config = { .header_name = "Authorization", .header_value = value, .password = token };
	int rc = httplogin_log_in(out, &config, err);

	mem_free_secret(pair);
	mem_free_secret(encoded);
	mem_free_secret(value);
	return rc ? params_wrap(err, "personalAccessToken") : 0;
}

/* As kscaled itself, which needs access to the organization. */
static int log_in_as_workload(const struct pod_identity *pod, struct httplogin *out, struct err *err)
{
	struct disclosure to = { .service = AZURECLOUD_DEVOPS };
	struct webaccess_config config = { 0 };
	MEM_AUTO char *host = disclosure_take_url(&to, out->url, err);

	config.identity = host ? azurelogin_new(pod, NULL, &to, err) : NULL;
	if (!config.identity)
		return params_wrap(err, "organizationURL");
	return httplogin_log_in(out, &config, err);
}

/* Reduces equivalent settings to one form, for the question's key. */
static void settle(struct pipelines *q)
{
	if (q->pool_name)
		q->pool_id = 0;
	if (q->unfinished != PARAM_ON)
		q->unfinished = PARAM_UNSET;
	q->fetched = q->unfinished == PARAM_ON || q->parent ? 0 : q->fetched ? q->fetched : 250;
}

static int read_url(struct pipelines *q, struct err *err)
{
	char *clean = httpurl_without_user(q->login.url, err);

	if (!clean)
		return params_wrap(err, "organizationURL");
	mem_free_secret(q->login.url);
	q->login.url = clean;
	return 0;
}

static int log_in(struct scaler_build *b, char *token, struct err *err)
{
	struct pipelines *q = b->data;
	int workload = token ? 0 : azurelogin_is_workload(b->params->identity, "azure pipelines", err);

	if (workload < 0)
		return -1;
	if (!token && !workload)
		return err_set_about(err, "personalAccessToken",
			"no personalAccessToken given or PodIdentity provider configured: give personalAccessToken by "
			"a TriggerAuthentication, or set podIdentity.provider azure-workload in one");
	if (read_url(q, err))
		return -1;
	if (token)
		token[strcspn(token, "\r\n")] = '\0'; /* a Secret made from a file ends with a line break */
	return token ? log_in_by_token(token, &q->login, err) : log_in_as_workload(b->params->identity, &q->login, err);
}

static int build(struct scaler_build *b, struct err *err)
{
	struct pipelines *q = b->data;
	struct pipelines_login *f;

	if (check(q, err))
		return -1;
	settle(q);
	b->metric_name = q->pool_name ? mem_printf("azure-pipelines-%s", q->pool_name)
				      : mem_printf("azure-pipelines-%lld", (long long)q->pool_id);
	f = params_read_login(b, &login_table, sizeof(*f), err);
	return !f || (!b->open && log_in(b, f->token, err)) ? -1 : 0;
}

/* ---- Asking ---- */

/* The state is a bool: the request looks up the pool by name. */
static int request(const struct httpsource *ask, struct webrequest *out, struct err *err)
{
	const struct pipelines *q = ask->data;
	struct buf url = BUF_INIT(URL_MAX);
	bool *for_pool = ask->state;

	*for_pool = q->pool_name && !q->learned;
	buf_printf(&url, "%s/_apis/distributedtask/pools", q->login.url);
	if (*for_pool) {
		buf_puts(&url, "?poolName=");
		buf_put_percent(&url, q->pool_name, "");
	} else {
		buf_printf(&url, "/%lld/jobrequests", (long long)q->pool_id);
		if (q->unfinished == PARAM_ON)
			buf_puts(&url, "?completedRequestCount=0");
		else if (q->fetched)
			buf_printf(&url, "?$top=%lld", (long long)q->fetched);
	}
	if (buf_failed(&url)) {
		buf_done(&url);
		return err_set(err, ERR_INVALID, "the URL would have more than %zu bytes", URL_MAX);
	}
	out->url = buf_take(&url);
	return 0;
}

/* Without a valid login the answer is a sign-in page, with 203, or with 200 after a redirect. */
static json_t *read_json(const struct webresponse *answer, struct err *err)
{
	json_t *value;

	if (!json_is_bearable(answer->body, answer->len, NULL)) {
		err_set(err, ERR_INVALID,
			"the answer has more than %d values and names: set a smaller jobsToFetch, or, with parent, "
			"fetchUnfinishedJobsOnly",
			JSON_FOREIGN_VALUES_MAX);
		return NULL;
	}
	value = httpsource_json(answer, err);
	if (!value && strstr(answer->content_type, "html"))
		err_set(err, ERR_DENIED,
			"the answer is a sign-in page: personalAccessToken is wrong, has expired, or lacks the scope "
			"Agent Pools (Read), or the identity is not a user of the organization");
	return value;
}

static enum exchange_verdict read_pool(struct pipelines *q, const json_t *answer, struct err *err)
{
	if (pipelinejobs_pool(answer, q->pool_name, &q->pool_id, err))
		return EXCHANGE_FAILED;
	q->learned = true;
	return EXCHANGE_NEXT;
}

static enum exchange_verdict read_jobs(const struct pipelines *q, const json_t *answer, struct answer *out,
	struct err *err)
{
	const struct pipelinejobs_filter filter = { .parent = q->parent,
		.demands = (const char *const *)q->demands.items,
		.count = q->demands.count,
		.rule = q->same          ? PIPELINEJOBS_SAME
			: q->all_of_ours ? PIPELINEJOBS_ALL_OF_OURS
					 : PIPELINEJOBS_ALL_OF_JOB,
		.any_case = q->any_case,
		.in_flight = q->in_flight };
	size_t count;

	if (pipelinejobs_count(answer, &filter, &count, err))
		return EXCHANGE_FAILED;
	out->value = (double)count;
	if (pipelinejobs_is_cut(answer, q->fetched))
		out->remark = "the list of jobs may have been cut: it has as many as jobsToFetch, and the last has not "
			      "ended; a larger jobsToFetch, or fetchUnfinishedJobsOnly, gets the others";
	return EXCHANGE_DONE;
}

static enum exchange_verdict judge(struct httpsource *ask, const struct webresponse *answer, struct answer *out,
	struct err *err)
{
	struct pipelines *q = ask->data;
	const bool *for_pool = ask->state;
	enum exchange_verdict verdict = EXCHANGE_FAILED;
	json_t *value = NULL;

	if (httpsource_expect(answer, 200, 299, err) == 0)
		value = read_json(answer, err);
	if (value)
		verdict = *for_pool ? read_pool(q, value, err) : read_jobs(q, value, out, err);
	/* The pool may have been recreated with another number. */
	if (verdict == EXCHANGE_FAILED)
		q->learned = false;
	json_decref(value);
	return verdict;
}

static const struct httpsource_type http = { .max_body = ANSWER_MAX,
	.state_size = sizeof(bool),
	.request = request,
	.read = judge };

const struct scaler_type azurepipelines_scaler_type = {
	.name = "azure-pipelines",
	.go_name = "azurePipelinesScaler",
	.azure_workload = true,
	.tables = { &table, &login_table },
	.data_size = sizeof(struct pipelines),
	.build = build,
	.asker = &httpsource_asker,
	.http = &http,
};
