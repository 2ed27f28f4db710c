/* SPDX-License-Identifier: Apache-2.0 */
#include "net/identity/googleown.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "net/http/httpurl.h"
#include "net/identity/googleexternal.h"
#include "net/identity/googlekey.h"
#include "net/identity/identity_parts.h"
#include "net/identity/oauthreply.h"

#define KEY_FILE       "GOOGLE_APPLICATION_CREDENTIALS"
#define METADATA_HOST  "169.254.169.254"
#define METADATA_PATHS "/computeMetadata/v1/"
#define URL_MAX        ((size_t)4096)

#define PROJECT_ENV "CLOUDSDK_CORE_PROJECT"

enum { SCOPE };
enum { START, BY_KEY, METADATA_PROJECT, METADATA_TOKEN, SOURCE, STS, ACCOUNT }; /* stages */
/* saved is the project, or NULL if unknown; in the last two stages the token to send. */

/* ---- The steps ---- */

/* CLOUDSDK_CORE_PROJECT overrides the other source. */
static void save_project(struct identity_exchange *x, const char *otherwise)
{
	const char *given = identity_env(x, PROJECT_ENV);

	mem_free_secret(x->saved);
	x->saved = mem_dup(given ? given : otherwise);
}

static enum exchange_verdict ask_with_key(struct identity_exchange *x, const char *text, struct webrequest *out,
	struct err *err)
{
	struct googlekey key = { 0 };
	enum exchange_verdict verdict = EXCHANGE_FAILED;

	if (googlekey_read(text, true, &key, err))
		return err_wrap(err, "the file that " KEY_FILE " names");
	if (googlekey_ask(&key, identity_text(x->identity, SCOPE), x->unix_ms, out, err) == 0) {
		save_project(x, key.project);
		x->stage = BY_KEY;
		verdict = EXCHANGE_SEND;
	}
	googlekey_done(&key);
	return verdict;
}

/* ---- Workload identity federation ---- */

static void save_token(struct identity_exchange *x, char *token /* takes */, unsigned stage)
{
	mem_free_secret(x->saved);
	x->saved = token;
	x->stage = stage;
}

static int read_source(struct identity_exchange *x, const struct googleexternal *g, struct err *err)
{
	struct buf content = BUF_INIT(GOOGLEKEY_TEXT_MAX);
	char *token = NULL;

	if (x->environment->file(x->environment->arg, g->file, &content, err) == 0)
		token = googleexternal_subject(g, buf_text(&content), content.len, err);
	buf_done_secret(&content);
	if (!token)
		return err_wrap(err, "the file of its credential_source");
	save_token(x, token, STS);
	return 0;
}

/* Reads the configuration anew at each step, as the exchange keeps only a token. */
static enum exchange_verdict ask_federated(struct identity_exchange *x, const char *text, struct webrequest *out,
	struct err *err)
{
	const char *scope = identity_text(x->identity, SCOPE);
	struct googleexternal g = { 0 };
	enum exchange_verdict verdict = EXCHANGE_FAILED;

	if (googleexternal_read(text, &g, err) || (x->stage == START && g.file && read_source(x, &g, err)) ||
		(x->stage == ACCOUNT && !g.account_url &&
			err_set(err, ERR_TEMPORARY, "it has changed since the exchange began"))) {
		err_wrap(err, "the file that " KEY_FILE " names");
	} else {
		verdict = EXCHANGE_SEND;
		if (x->stage == START)
			x->stage = SOURCE;
		if (x->stage == SOURCE)
			googleexternal_ask_source(&g, out);
		else if (x->stage == STS)
			googleexternal_ask_sts(&g, x->saved, scope, out);
		else
			googleexternal_ask_account(&g, x->saved, scope, out);
	}
	googleexternal_done(&g);
	return verdict;
}

static enum exchange_verdict ask_by_file(struct identity_exchange *x, struct webrequest *out, struct err *err)
{
	char *text = identity_file_text(x, KEY_FILE, err);
	enum exchange_verdict verdict = EXCHANGE_FAILED;

	if (text)
		verdict = x->stage != START || googleexternal_is(text) ? ask_federated(x, text, out, err)
								       : ask_with_key(x, text, out, err);
	mem_free_secret(text);
	return verdict;
}

static enum exchange_verdict take_source(struct identity_exchange *x, const struct googleexternal *g,
	const struct webresponse *answer, struct err *err)
{
	char *token = NULL;

	if (answer->status != 200)
		identity_refused(answer, "no token", NULL, err);
	else
		token = googleexternal_subject(g, answer->body ? answer->body : "", answer->len, err);
	if (!token)
		return EXCHANGE_FAILED;
	save_token(x, token, STS);
	return EXCHANGE_NEXT;
}

static enum exchange_verdict take_sts(struct identity_exchange *x, const struct googleexternal *g,
	const struct webresponse *answer, struct credential *got, struct err *err)
{
	if (oauthreply_read(answer, got, err))
		return EXCHANGE_FAILED;
	if (!g->account_url)
		return EXCHANGE_DONE;
	save_token(x, got->token, ACCOUNT);
	*got = (struct credential){ 0 };
	return EXCHANGE_NEXT;
}

static enum exchange_verdict take_step(struct identity_exchange *x, const struct googleexternal *g,
	const struct webresponse *answer, struct credential *got, struct err *err)
{
	static const char *const who[] = { [SOURCE] = "the url of its credential_source",
		[STS] = "Google's token service",
		[ACCOUNT] = "the service account" };
	unsigned stage = x->stage;
	enum exchange_verdict verdict = stage == SOURCE ? take_source(x, g, answer, err)
		: stage == STS                          ? take_sts(x, g, answer, got, err)
							: googleexternal_read_account(answer, x->unix_ms, got, err);

	if (verdict == EXCHANGE_FAILED)
		err_wrap(err, "%s", who[stage]);
	if (verdict == EXCHANGE_DONE)
		got->project = mem_dup(identity_env(x, PROJECT_ENV));
	return verdict;
}

static enum exchange_verdict take_federated(struct identity_exchange *x, const struct webresponse *answer,
	struct credential *got, struct err *err)
{
	char *text = identity_file_text(x, KEY_FILE, err);
	struct googleexternal g = { 0 };
	enum exchange_verdict verdict = EXCHANGE_FAILED;

	if (text && googleexternal_read(text, &g, err))
		err_wrap(err, "the file that " KEY_FILE " names");
	else if (text)
		verdict = take_step(x, &g, answer, got, err);
	googleexternal_done(&g);
	mem_free_secret(text);
	return verdict;
}

/* ---- The metadata server ---- */

static enum exchange_verdict ask_metadata(const struct identity_exchange *x, struct webrequest *out)
{
	const char *host = identity_env(x, "GCE_METADATA_HOST");
	struct buf url = BUF_INIT(URL_MAX);

	buf_printf(&url, "http://%s" METADATA_PATHS, host ? host : METADATA_HOST);
	if (x->stage == METADATA_PROJECT) {
		buf_puts(&url, "project/project-id");
	} else {
		buf_puts(&url, "instance/service-accounts/default/token?scopes=");
		buf_put_percent(&url, identity_text(x->identity, SCOPE), "");
	}
	out->own = true;
	out->url = buf_take(&url);
	strmap_set(&out->headers, "Metadata-Flavor", "Google");
	return EXCHANGE_SEND;
}

static enum exchange_verdict googleown_next(struct identity_exchange *x, struct webrequest *out, struct credential *got,
	struct err *err)
{
	const char *project = identity_env(x, PROJECT_ENV);

	(void)got;
	if (x->stage >= SOURCE)
		return ask_by_file(x, out, err);
	if (x->stage != START)
		return ask_metadata(x, out);
	if (project && !googlekey_is_project(project))
		return err_set(err, ERR_INVALID, PROJECT_ENV " is not a project id");
	if (identity_env(x, KEY_FILE))
		return ask_by_file(x, out, err);
	if (!x->environment->metadata)
		return err_set(err, ERR_INVALID,
			"kscaled has no Google identity of its own: its environment has no " KEY_FILE
			", and the option cloud-metadata, for the machine's identity, is off");
	save_project(x, NULL);
	x->stage = x->saved ? METADATA_TOKEN : METADATA_PROJECT;
	return ask_metadata(x, out);
}

/* ---- Responses ---- */

/* 404: the machine has no project. A caller that needs one reports that. */
static enum exchange_verdict take_project(struct identity_exchange *x, const struct webresponse *answer,
	struct err *err)
{
	MEM_AUTO char *line = mem_dupn(answer->body ? answer->body : "",
		strcspn(answer->body ? answer->body : "", "\r\n"));

	if (answer->status != 200 && answer->status != 404) {
		identity_refused(answer, "no project", NULL, err);
		return EXCHANGE_FAILED;
	}
	if (answer->status == 200 && !googlekey_is_project(line))
		return err_set(err, ERR_INVALID, "the answer is not a project id");
	if (answer->status == 200)
		save_project(x, line);
	x->stage = METADATA_TOKEN;
	return EXCHANGE_NEXT;
}

static enum exchange_verdict googleown_read(struct identity_exchange *x, const struct webresponse *answer,
	struct credential *got, struct err *err)
{
	enum exchange_verdict verdict;

	if (x->stage >= SOURCE)
		return take_federated(x, answer, got, err);
	verdict = x->stage == METADATA_PROJECT ? take_project(x, answer, err) : oauthreply_read(answer, got, err);
	if (verdict == EXCHANGE_DONE)
		got->project = mem_dup(x->saved);
	if (verdict == EXCHANGE_FAILED)
		err_wrap(err, x->stage == BY_KEY ? "the key that " KEY_FILE " names" : "the machine's metadata server");
	return verdict;
}

static const struct identity_kind googleown = { .name = "google own",
	.label = "kscaled's own Google token",
	.next = googleown_next,
	.read = googleown_read };

struct identity *googleown_new(const char *scope)
{
	const struct identity_config config = { .kind = &googleown, .texts = { [SCOPE] = scope }, .own = true };

	return identity_new(&config);
}
