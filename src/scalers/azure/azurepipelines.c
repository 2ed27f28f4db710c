/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/azure/azurepipelines.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/buf.h"
#include "base/fingerprint.h"
#include "base/json.h"
#include "base/mem.h"
#include "net/http/httpurl.h"
#include "scalers/azure/pipelinejobs.h"
#include "scalers/azurelogin.h"
#include "scalers/httpsource.h"
#include "scalers/params.h"

/* 250 jobs have some 1 MiB. */
#define ANSWER_MAX ((size_t)4 << 20)
#define URL_MAX    ((size_t)1 << 14)

/* The data of a question. */
struct pipelines_question {
	struct httpsource_login login;
	char *url;       /* of the organization, without a slash at its end */
	char *pool_name; /* NULL: pool_id is given */
	int64_t pool_id;
	bool learned;    /* pool_id: the pool with the name has it, as of the last answer */
	int64_t fetched; /* jobs to fetch; 0: all, as the server orders them */
	bool unfinished; /* without those that ended */
	char *parent;    /* NULL */
	struct param_list demands;
	bool any_case;
	bool in_flight;
	enum pipelinejobs_rule rule;
};

/* The parameters as written. Owns its texts. */
struct pipelines_fields {
	char *url, *token, *pool_name, *parent;
	struct param_list demands;
	int64_t pool_id, target, activation, fetched;
	enum param_switch unfinished;
	bool same, all_of_ours, any_case, in_flight;
};

#define AT(field) offsetof(struct pipelines_fields, field)
static const struct param_row rows[] = {
	{ "organizationURL", PARAM_TEXT, "eam", AT(url), .required = true,
		.help = "https://dev.azure.com/ORGANIZATION" },
	{ "personalAccessToken", PARAM_TEXT, "ae", AT(token), .help = "with the scope Agent Pools (Read)" },
	{ "poolName", PARAM_TEXT, "m", AT(pool_name), .help = "name of the agent pool" },
	{ "poolID", PARAM_INT64, "m", AT(pool_id), .most = INT32_MAX, .help = "its number, instead" },
	{ "parent", PARAM_TEXT, "m", AT(parent), .help = "name of an agent: jobs that it could run" },
	{ "demands", PARAM_LIST, "m", AT(demands), .help = "what our agents have: jobs that demand no more" },
	{ "requireAllDemands", PARAM_BOOL, "m", AT(same), .help = "jobs that demand just that" },
	{ "requireAllDemandsAndIgnoreOthers", PARAM_BOOL, "m", AT(all_of_ours),
		.help = "jobs that demand all of that" },
	{ "caseInsensitiveDemandsProcessing", PARAM_BOOL, "m", AT(any_case), .help = "demands in any case of letters" },
	{ "jobsToFetch", PARAM_INT64, "m", AT(fetched), .least = 1, .most = 10000,
		.help = "how many jobs are looked at; by default 250" },
	{ "fetchUnfinishedJobsOnly", PARAM_SWITCH, "m", AT(unfinished), .help = "jobs that ended are not fetched" },
	{ "scaleOnInFlight", PARAM_BOOL, "m", AT(in_flight), .otherwise = "true",
		.help = "whether jobs that an agent has received count" },
	{ "targetPipelinesQueueLength", PARAM_INT64, "m", AT(target), .otherwise = "1",
		.help = "target: as many per replica" },
	{ "activationTargetPipelinesQueueLength", PARAM_INT64, "m", AT(activation),
		.help = "active when there are more" },
};
static const struct param_table table = PARAM_TABLE(rows);

static void free_data(void *data)
{
	struct pipelines_question *q = data;

	webaccess_unref(q->login.access);
	free(q->url);
	free(q->pool_name);
	free(q->parent);
	for (size_t i = 0; i < q->demands.count; i++)
		free(q->demands.items[i]);
	free(q->demands.items);
	free(q);
}

/* ---- Building ---- */

/* What one row cannot say. A pool's name goes before its number, as in KEDA. */
static int check(const struct scaler_params *params, struct pipelines_fields *f, struct err *err)
{
	if (f->fetched && f->unfinished != PARAM_UNSAID)
		return err_set_about(err, "jobsToFetch",
			"cannot specify both jobsToFetch and fetchUnfinishedJobsOnly at the same time");
	if (f->fetched && f->parent)
		return err_set_about(err, "jobsToFetch", "cannot specify both jobsToFetch and parent at the same time");
	if (f->url && f->url[strlen(f->url) - 1] == '/')
		return err_set(err, ERR_INVALID,
			"parameter \"organizationURL\": failed to extract organization name from organizationURL: it "
			"must not end with a slash");
	if (!f->pool_name && f->pool_id <= 0)
		return err_set_about(err, "poolName", "no poolName or poolID given");
	if (f->demands.count > PIPELINEJOBS_DEMANDS_MAX)
		return err_set(err, ERR_INVALID, "parameter \"demands\": %zu are given, at most %d may be",
			f->demands.count, PIPELINEJOBS_DEMANDS_MAX);
	return params_check_target(params, "targetPipelinesQueueLength", &f->target, err);
}

/* The user name of Basic authentication is empty, for which webaccess has no word. */
static int log_in(const char *token, struct webaccess **out, struct err *err)
{
	char *pair = mem_printf(":%s", token), *encoded = base64_encode(pair, strlen(pair)),
	     *value = mem_printf("Basic %s", encoded);
	struct webaccess_config config = { .header_name = "Authorization", .header_value = value, .password = token };

	*out = webaccess_new(&config, err);
	mem_free_secret(pair);
	mem_free_secret(encoded);
	mem_free_secret(value);
	return *out ? 0 : err_wrap(err, "parameter \"personalAccessToken\"");
}

/* As kscaled itself, which has rights in the organization. */
static int log_in_as_workload(const struct pod_identity *pod, const char *url, struct webaccess **out, struct err *err)
{
	struct disclosure to = { .service = AZURECLOUD_DEVOPS };
	struct webaccess_config config = { 0 };
	struct httpurl_place place = { 0 };
	MEM_AUTO char *host = NULL;

	if (httpurl_place(url, &place, err))
		return err_wrap(err, "parameter \"organizationURL\"");
	host = httpurl_host_header(&place);
	to.host = host;
	to.clear = strcmp(place.scheme, "https") != 0;
	config.identity = azurelogin_new(pod, NULL, &to, err);
	httpurl_place_done(&place);
	if (!config.identity)
		return err_wrap(err, "parameter \"organizationURL\"");
	*out = webaccess_new(&config, err);
	identity_unref(config.identity);
	return *out ? 0 : -1;
}

/* Takes the texts that the question keeps. */
static void take_fields(struct pipelines_question *q, struct pipelines_fields *f)
{
	q->pool_name = f->pool_name;
	q->pool_id = f->pool_name ? 0 : f->pool_id;
	q->parent = f->parent;
	q->demands = f->demands;
	q->any_case = f->any_case;
	q->in_flight = f->in_flight;
	q->rule = f->same ? PIPELINEJOBS_SAME : f->all_of_ours ? PIPELINEJOBS_ALL_OF_OURS : PIPELINEJOBS_ALL_OF_JOB;
	q->unfinished = f->unfinished == PARAM_ON;
	q->fetched = q->unfinished || f->parent ? 0 : f->fetched ? f->fetched : 250;
	f->pool_name = f->parent = NULL;
	f->demands = (struct param_list){ 0 };
}

static char *make_key(const struct pipelines_question *q)
{
	struct buf demands = BUF_INIT(URL_MAX);
	char print[FINGERPRINT_TEXT], *key;
	const char *texts[2];

	for (size_t i = 0; i < q->demands.count; i++)
		buf_printf(&demands, "%s,", q->demands.items[i]);
	texts[0] = q->parent ? q->parent : "";
	texts[1] = buf_text(&demands);
	key = mem_printf("azure-pipelines %s %s %lld %s %lld %d %s %d %d %d", q->url, q->pool_name ? q->pool_name : "-",
		(long long)q->pool_id, webaccess_key(q->login.access), (long long)q->fetched, q->unfinished,
		fingerprint_of(texts, 2, print), q->rule, q->any_case, q->in_flight);
	buf_done(&demands);
	return key;
}

/* 1: some values are unknown, and the question is incomplete. */
static int read_question(const struct scaler_params *params, struct pipelines_fields *f, struct pipelines_question *q,
	struct err *err)
{
	char *user = NULL, *password = NULL;
	int rc = params_read(&table, params, f, err), workload = 0;

	if (rc >= 0 && check(params, f, err))
		return -1;
	if (rc != 0)
		return rc;
	if (!f->token)
		workload = azurelogin_is_workload(params->identity, "azure pipelines", err);
	if (workload < 0)
		return -1;
	if (!f->token && !workload)
		return err_set_about(err, "personalAccessToken",
			"no personalAccessToken given or PodIdentity provider configured: give personalAccessToken by "
			"a "
			"TriggerAuthentication, or say in one podIdentity.provider azure-workload");
	if (httpurl_split_user(f->url, &q->url, &user, &password, err))
		return err_wrap(err, "parameter \"organizationURL\"");
	free(user);
	mem_free_secret(password);
	if (workload)
		return log_in_as_workload(params->identity, q->url, &q->login.access, err);
	f->token[strcspn(f->token, "\r\n")] = '\0'; /* a Secret made of a file ends with one */
	return log_in(f->token, &q->login.access, err);
}

static int build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err)
{
	struct pipelines_question *q = mem_zalloc(sizeof(*q));
	struct pipelines_fields f = { 0 };
	int rc = read_question(params, &f, q, err);
	char where[256];

	if (rc >= 0) {
		take_fields(q, &f);
		out->target = quantity_from_int(f.target);
		out->activation = (double)f.activation;
		*metric_name = params_normalise(q->pool_name
				? mem_printf("azure-pipelines-%s", q->pool_name)
				: mem_printf("azure-pipelines-%lld", (long long)q->pool_id));
	}
	if (rc == 0) {
		out->question = question_new(&azurepipelines_scaler_type, make_key(q),
			mem_printf("azure-pipelines %s", httpurl_origin(q->url, where, sizeof(where))), q);
		out->question->timeout_ms = QUESTION_TIMEOUT_HTTP;
	} else {
		free_data(q);
	}
	params_done(&table, &f);
	return rc;
}

/* ---- Asking ---- */

/* The note is a bool: the pool is asked for, by its name. */
static int request(const struct httpsource *ask, struct httpsource_request *out, struct err *err)
{
	const struct pipelines_question *q = ask->base.question->data;
	struct buf url = BUF_INIT(URL_MAX);
	bool *for_pool = ask->note;

	*for_pool = q->pool_name && !q->learned;
	buf_printf(&url, "%s/_apis/distributedtask/pools", q->url);
	if (*for_pool) {
		buf_puts(&url, "?poolName=");
		buf_put_percent(&url, q->pool_name, "");
	} else {
		buf_printf(&url, "/%lld/jobrequests", (long long)q->pool_id);
		if (q->unfinished)
			buf_puts(&url, "?completedRequestCount=0");
		else if (q->fetched)
			buf_printf(&url, "?$top=%lld", (long long)q->fetched);
	}
	if (buf_failed(&url)) {
		buf_done(&url);
		return err_set(err, ERR_INVALID, "the URL would have more than %zu bytes", URL_MAX);
	}
	out->url = buf_take(&url);
	out->max_body = ANSWER_MAX;
	return 0;
}

/* Who is not known is sent to a page to sign in, with 203, or by a redirect with 200. */
static json_t *read_json(const struct webget_answer *answer, struct err *err)
{
	json_t *value;

	if (!json_is_bearable(answer->body, answer->len, NULL)) {
		err_set(err, ERR_INVALID,
			"the answer has more than %d values and names: a smaller jobsToFetch has fewer of them, and, "
			"with parent, fetchUnfinishedJobsOnly",
			JSON_FOREIGN_VALUES_MAX);
		return NULL;
	}
	value = httpsource_json(answer, err);
	if (!value && strstr(answer->content_type, "html"))
		err_set(err, ERR_DENIED,
			"the answer is a page, as for signing in: personalAccessToken is wrong, has expired, or lacks "
			"the scope Agent Pools (Read), or the identity is no user of the organization");
	return value;
}

static enum httpsource_verdict read_pool(struct pipelines_question *q, const json_t *answer, struct err *err)
{
	if (pipelinejobs_pool(answer, q->pool_name, &q->pool_id, err))
		return HTTPSOURCE_FAILED;
	q->learned = true;
	return HTTPSOURCE_NEXT;
}

static enum httpsource_verdict read_jobs(const struct pipelines_question *q, const json_t *answer, struct answer *out,
	struct err *err)
{
	const struct pipelinejobs_filter filter = { .parent = q->parent,
		.demands = (const char *const *)q->demands.items,
		.count = q->demands.count,
		.rule = q->rule,
		.any_case = q->any_case,
		.in_flight = q->in_flight };
	size_t count;

	if (pipelinejobs_count(answer, &filter, &count, err))
		return HTTPSOURCE_FAILED;
	out->value = (double)count;
	if (pipelinejobs_is_cut(answer, q->fetched))
		out->remark = "the list of jobs may have been cut: it has as many as jobsToFetch, and the last has not "
			      "ended; a larger jobsToFetch, or fetchUnfinishedJobsOnly, gets the others";
	return HTTPSOURCE_ANSWERED;
}

static enum httpsource_verdict judge(struct httpsource *ask, const struct webget_answer *answer, struct answer *out,
	struct err *err)
{
	struct pipelines_question *q = ask->base.question->data;
	const bool *for_pool = ask->note;
	enum httpsource_verdict verdict = HTTPSOURCE_FAILED;
	json_t *value = NULL;

	if (httpsource_expect(answer, 200, 299, err) == 0)
		value = read_json(answer, err);
	if (value)
		verdict = *for_pool ? read_pool(q, value, err) : read_jobs(q, value, out, err);
	/* The pool may have been made anew, under another number. */
	if (verdict == HTTPSOURCE_FAILED)
		q->learned = false;
	json_decref(value);
	return verdict;
}

static const struct httpsource_type http = { .note_size = sizeof(bool), .request = request, .read = judge };

const struct scaler_type azurepipelines_scaler_type = {
	.name = "azure-pipelines",
	.go_name = "azurePipelinesScaler",
	.azure_workload = true,
	.tables = { &table },
	.build = build,
	.ask = httpsource_ask,
	.cancel = httpsource_cancel,
	.http = &http,
	.free_data = free_data,
};
