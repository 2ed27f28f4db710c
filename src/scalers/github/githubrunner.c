/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Trigger type `github-runner`: the GitHub Actions jobs that wait for a runner such as ours, or run
 * on one (doc/keda.md 8.19). Uses scalers/http/httpsource; scalers/github/githubscan chooses the
 * next request, githubpage reads its answer, githubcache caches pages.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "net/http/httpstatus.h"
#include "net/http/httpurl.h"
#include "net/identity/githubapp.h"
#include "scalers/github/githubcache.h"
#include "scalers/github/githubscan.h"
#include "scalers/http/httpsource.h"
#include "scalers/params.h"
#include "scalers/types.h"

/* A hundred runs take about 2 MiB. */
#define ANSWER_MAX ((size_t)4 << 20)
#define STEPS_MAX  2000
/* For all requests of one count together. */
#define SCAN_MS 120000
/* GitHub asks for a minute if its answer gives no time. */
#define PAUSE_MS  60000
#define NAMED_MAX 500
/* Permissions that we request for an App's token, even if the App has more. */
#define PERMISSIONS "{\"actions\":\"read\",\"metadata\":\"read\"}"

struct github {
	struct httplogin login; /* url: of the API, without trailing slash */
	char *owner;
	enum scope { ORGANIZATION, ENTERPRISE, REPOSITORY } scope;
	struct param_list repos, labels;
	bool no_default_labels, unlabeled_apart, etags;
	struct githubcache *cache; /* NULL: without ETags */
};

struct github_login {
	char *token, *key, *ca;
	int64_t application, installation;
};

static const char *const scopes[] = { [ORGANIZATION] = "org", [ENTERPRISE] = "ent", [REPOSITORY] = "repo", NULL };

#define AT(field) offsetof(struct github, field)
static const struct param_row rows[] = {
	{ "githubApiURL", PARAM_TEXT, "me", AT(login.url), .otherwise = "https://api.github.com",
		.help = "URL of the API; GitHub Enterprise Server: https://HOST/api/v3" },
	{ "owner", PARAM_TEXT, "me", AT(owner), .required = true, .help = "organization or user" },
	{ "runnerScope", PARAM_CHOICE, "me", AT(scope), .required = true, .words = scopes,
		.help = "scope of the runners; repo: the owner is a user" },
	{ "repos", PARAM_LIST, "me", AT(repos), .help = "names of repositories (default: all of the owner)" },
	{ "labels", PARAM_LIST, "me", AT(labels), .help = "labels of our runners besides the default ones" },
	{ "noDefaultLabels", PARAM_BOOL, "me", AT(no_default_labels),
		.help = "true: our runners lack the labels self-hosted, linux and x64" },
	{ "matchUnlabeledJobsWithUnlabeledRunners", PARAM_BOOL, "me", AT(unlabeled_apart),
		.help = "true: jobs without labels need runners without labels" },
	{ "enableEtags", PARAM_BOOL, "me", AT(etags),
		.help = "true: unchanged answers do not count towards the rate limit" },
	{ "targetWorkflowQueueLength", PARAM_WHOLE_TARGET, "me", .otherwise = "1",
		.help = "target: jobs per replica; active from this number on" },
};
static const struct param_table table = PARAM_TABLE(rows);

#define LOGIN_AT(field) offsetof(struct github_login, field)
static const struct param_row login_rows[] = {
	{ "applicationID", PARAM_INT64, "me", LOGIN_AT(application), .help = "GitHub App: application ID" },
	{ "installationID", PARAM_INT64, "me", LOGIN_AT(installation), .help = "GitHub App: installation ID" },
	{ "appKey", PARAM_TEXT, "a", LOGIN_AT(key), .help = "GitHub App: private key, PEM" },
	{ "personalAccessToken", PARAM_TEXT, "a", LOGIN_AT(token),
		.help = "token with the right Actions (read), instead of an App" },
	{ "ca", PARAM_TEXT, "a", LOGIN_AT(ca), .help = "CA certificates to verify the server with, PEM" },
};
static const struct param_table login_table = PARAM_LOGIN_TABLE(login_rows);

static void data_done(void *data)
{
	githubcache_free(((struct github *)data)->cache);
}

/* ---- Building ---- */

/* An App needs all three, as in KEDA. Call when all values are known. */
static int check_login(const struct github_login *f, struct err *err)
{
	if (!f->key && !f->token)
		return err_set_about(err, "personalAccessToken", "no personalAccessToken or appKey given");
	if (!f->application && !f->installation && !f->key)
		return 0;
	if (f->application <= 0)
		return err_set_about(err, "applicationID", "no applicationID given");
	if (f->installation <= 0)
		return err_set_about(err, "installationID", "no installationID given");
	return f->key ? 0 : err_set_about(err, "appKey", "no appKey given");
}

static int check_names(const struct github *f, struct err *err)
{
	if (f->owner && !githubpage_is_name(f->owner))
		return params_wrong(err, "owner", "must be the name of an organization or user, without slashes");
	if (f->repos.count > NAMED_MAX)
		return params_wrong(err, "repos", "has more than %d names", NAMED_MAX);
	for (size_t i = 0; i < f->repos.count; i++)
		if (!githubpage_is_name(f->repos.items[i]))
			return params_wrong(err, "repos",
				": name %zu is not the name of a repository; the owner is not part "
				"of it",
				i + 1);
	if (f->labels.count > GITHUBPAGE_LABELS_MAX)
		return params_wrong(err, "labels", "has more than %d labels", GITHUBPAGE_LABELS_MAX);
	return 0;
}

static int read_url(struct github *q, struct err *err)
{
	char *clean = httpurl_without_user(q->login.url, err);

	if (!clean)
		return params_wrap(err, "githubApiURL");
	mem_free_secret(q->login.url);
	q->login.url = clean;
	httpurl_cut_slashes(q->login.url);
	if (strpbrk(q->login.url, "?#"))
		return params_wrong(err, "githubApiURL", "must not have a query (?...)");
	return 0;
}

static int make_access(const struct github_login *f, struct httplogin *out, struct err *err)
{
	char application[24], installation[24];
	const struct githubapp_config app = { .api_url = out->url,
		.application = application,
		.installation = installation,
		.key_pem = f->key,
		.permissions = PERMISSIONS,
		.trust = { .ca_pem = f->ca } };
	struct webaccess_config config = { .ca_pem = f->ca };

	snprintf(application, sizeof(application), "%lld", (long long)f->application);
	snprintf(installation, sizeof(installation), "%lld", (long long)f->installation);
	if (f->key)
		config.identity = githubapp_new(&app, err);
	else
		config.bearer = f->token;
	if (f->key && !config.identity)
		return params_wrap(err, "appKey");
	return httplogin_log_in(out, &config, err);
}

static int log_in(struct scaler_build *b, const struct github_login *f, struct err *err)
{
	struct github *q = b->data;

	if (check_login(f, err) || read_url(q, err) || make_access(f, &q->login, err))
		return -1;
	b->timeout_ms = SCAN_MS;
	q->cache = q->etags ? githubcache_new() : NULL;
	if (q->scope == ENTERPRISE)
		q->scope = ORGANIZATION; /* the same list */
	return 0;
}

/* Active from the target on, as in KEDA: the threshold is one job less. */
static int build(struct scaler_build *b, struct err *err)
{
	struct github *q = b->data;
	const struct github_login *f;

	b->scaler->activation = (double)(b->scaler->target.milli / 1000) - 1;
	b->metric_name = q->owner ? mem_printf("github-runner-%s", q->owner) : NULL;
	if (check_names(q, err))
		return -1;
	f = params_read_login(b, &login_table, sizeof(*f), err);
	return !f || (!b->open && log_in(b, f, err)) ? -1 : 0;
}

/* ---- Asking ---- */

/* The note of an ask is its githubscan. */
static void note_done(void *note)
{
	githubscan_done(note);
}

static struct githubscan_place place_of(const struct github *q)
{
	return (struct githubscan_place){ .owner = q->owner,
		.is_user = q->scope == REPOSITORY,
		.repos = (const char *const *)q->repos.items,
		.count = q->repos.count };
}

/* In the order of WANTED. */
enum { ETAG, REMAINING, RESET, LINK };
#define WANTED "ETag X-RateLimit-Remaining X-RateLimit-Reset Link"

static int request(const struct httpsource *ask, struct webrequest *out, struct err *err)
{
	const struct github *q = ask->data;
	const struct githubscan_place place = place_of(q);
	struct githubscan *scan = ask->state;
	MEM_AUTO char *path = NULL;
	const char *etag;

	(void)err;
	if (ask->step == 0)
		githubscan_begin(scan, &place);
	path = githubscan_path(scan, &place);
	etag = githubcache_etag(q->cache, path);
	out->url = mem_printf("%s%s", q->login.url, path);
	strmap_set(&out->headers, "Accept", "application/vnd.github.v3+json");
	strmap_set(&out->headers, "X-GitHub-Api-Version", "2022-11-28");
	if (etag)
		strmap_set(&out->headers, "If-None-Match", etag);
	out->wanted_header = WANTED;
	return 0;
}

/* ---- Limits ---- */

/* The time until X-RateLimit-Reset if no request is left until then; else 0. */
static int64_t wait_ms(const struct webresponse *answer)
{
	const char *reset = answer->wanted[RESET];
	size_t digits = strspn(reset, "0123456789");
	int64_t left_ms;

	if (strcmp(answer->wanted[REMAINING], "0") != 0 || digits == 0 || digits > 12 || reset[digits] != '\0')
		return 0;
	left_ms = strtoll(reset, NULL, 10) * 1000 - timestamp_now_ms();
	return left_ms > 0 ? left_ms : 0;
}

/* Also for successful answers, which may be the last that the limit allows. */
static void heed_limit(const struct httpsource *ask, const struct webresponse *answer)
{
	int64_t ms = wait_ms(answer);

	if (ms > 0)
		httpsource_pause(ask, ms);
}

/* Whether the status is due to a rate limit; err then says so. */
static bool is_limited(const struct httpsource *ask, const struct webresponse *answer, const char *words,
	struct err *err)
{
	int64_t ms = wait_ms(answer);

	if (answer->status != 403 && answer->status != 429)
		return false;
	if (answer->retry_after_ms > ms)
		ms = answer->retry_after_ms;
	if (ms == 0 && (answer->status == 429 || strcasestr(words, "rate limit"))) {
		ms = PAUSE_MS;
		httpsource_pause(ask, ms);
	}
	if (ms == 0)
		return false;
	err_set(err, ERR_TEMPORARY, "GitHub API rate limit exceeded, for another %lld s%s%s",
		(long long)(ms + 999) / 1000, *words ? ": " : "", words);
	return true;
}

/* ---- Answers ---- */

static enum exchange_verdict go_on(const struct github *q, const struct githubscan *scan, struct answer *out)
{
	if (scan->stage != GITHUBSCAN_DONE)
		return EXCHANGE_NEXT;
	githubcache_sweep(q->cache);
	out->value = (double)scan->jobs;
	if (scan->cut)
		out->remark =
			"a repository has more than 100 waiting or running runs: only the jobs of the newest 100 of "
			"each are counted";
	return EXCHANGE_DONE;
}

static enum exchange_verdict refused(struct httpsource *ask, const struct webresponse *answer, struct answer *out,
	struct err *err)
{
	const struct github *q = ask->data;
	const struct githubscan_place place = place_of(q);
	json_t *value = json_parse_foreign(answer->body, answer->len, NULL);
	struct githubscan *scan = ask->state;
	char words[GITHUBPAGE_WORDS];

	githubpage_words(value, words);
	json_decref(value);
	if (answer->status == 404)
		return githubscan_missing(scan, &place, err) ? EXCHANGE_FAILED : go_on(q, scan, out);
	if (is_limited(ask, answer, words, err))
		return EXCHANGE_FAILED;
	err_set(err, httpstatus_kind(answer->status), "the GitHub REST API returned error: HTTP status %d%s%s",
		answer->status, *words ? ": " : "", words);
	if (answer->status == 401 && !webaccess_identity(q->login.access))
		err_wrap(err, "personalAccessToken is wrong or has expired");
	err->http_status = answer->status;
	return EXCHANGE_FAILED;
}

/* 0 with the page, or -1 with err. */
static int read_page(const struct github *q, const struct githubscan *scan, const struct webresponse *answer,
	struct githubpage *out, struct err *err)
{
	const struct githubpage_runner runner = { .labels = (const char *const *)q->labels.items,
		.count = q->labels.count,
		.no_default_labels = q->no_default_labels,
		.unlabeled_apart = q->unlabeled_apart };
	json_t *value = httpsource_json(answer, err);
	int rc = value ? githubpage_read(githubscan_kind(scan), value, answer->wanted[LINK], &runner, out, err) : -1;

	json_decref(value);
	return rc;
}

static enum exchange_verdict judge(struct httpsource *ask, const struct webresponse *answer, struct answer *out,
	struct err *err)
{
	const struct github *q = ask->data;
	const struct githubscan_place place = place_of(q);
	struct githubscan *scan = ask->state;
	MEM_AUTO char *path = githubscan_path(scan, &place);
	const struct githubpage *page = answer->status == 304 ? githubcache_page(q->cache, path) : NULL;
	struct githubpage read = { 0 };
	int rc;

	heed_limit(ask, answer);
	if (!page && answer->status != 200)
		return refused(ask, answer, out, err);
	rc = page ? 0 : read_page(q, scan, answer, &read, err);
	if (rc == 0)
		rc = githubscan_take(scan, &place, page ? page : &read, err);
	if (rc == 0 && !page)
		githubcache_put(q->cache, path, answer->wanted[ETAG], &read);
	githubpage_done(&read);
	return rc == 0 ? go_on(q, scan, out) : EXCHANGE_FAILED;
}

static const struct httpsource_type http = { .max_body = ANSWER_MAX,
	.steps_max = STEPS_MAX,
	.state_size = sizeof(struct githubscan),
	.state_done = note_done,
	.request = request,
	.read = judge };

const struct scaler_type githubrunner_scaler_type = {
	.name = "github-runner",
	.go_name = "githubRunnerScaler",
	.tables = { &table, &login_table },
	.data_size = sizeof(struct github),
	.build = build,
	.data_done = data_done,
	.asker = &httpsource_asker,
	.http = &http,
};
