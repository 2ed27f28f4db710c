/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/scalerbuild.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"
#include "base/text.h"
#include "net/http/httpurl.h"
#include "net/tls/computing.h"
#include "scalers/httplogin.h"
#include "scalers/login/awslogin.h"
#include "scalers/login/googlelogin.h"
#include "scalers/missingtypes.h"

/* ---- Identities that a type does not read ---- */

static bool has_table(const struct scaler_type *type, const struct param_table *wanted)
{
	for (size_t i = 0; i < MEM_COUNT(type->tables) && type->tables[i]; i++)
		if (type->tables[i] == wanted)
			return true;
	return false;
}

bool scaler_reads_identity(const struct scaler_type *type, const char *provider)
{
	if (strcmp(provider, "azure-workload") == 0)
		return type->azure_workload;
	return has_table(type, strcmp(provider, "gcp") == 0 ? &googlelogin_table : &awslogin_table);
}

static void tell_identity(const struct scaler_params *params, const struct scaler_type *type)
{
	const char *provider = params->identity ? params->identity->provider : NULL;

	if (provider && strcmp(provider, "none") != 0 && !scaler_reads_identity(type, provider))
		params_ignore(params,
			"podIdentity %s of its authentication has no effect: triggers of type %s do not use it",
			provider, type->name);
}

/* ---- One build ---- */

#define KEY_MAX ((size_t)8 << 20)

static int read_tables(struct scaler_build *b, const struct scaler_type *type, struct err *err)
{
	int rc = 0;

	b->data = type->data_size > 0 ? mem_zalloc(type->data_size) : NULL;
	if (type->absent)
		memcpy(b->data, type->absent, type->data_size);
	for (size_t i = 0; rc == 0 && b->data && type->tables[i]; i++)
		if (!type->tables[i]->login)
			rc = params_read_rows(b, type->tables[i], 0, b->data, err);
	return rc;
}

/* For HTTP: source and timeout, unless build has set them, and the login's part of the key. */
static void name_http(struct scaler_build *b, const struct scaler_type *type)
{
	const struct httplogin *login = type->http ? b->data : NULL;
	char origin[256];

	if (!login || !login->url)
		return;
	if (!b->source)
		b->source = mem_printf("%s %s", type->name, httpurl_origin(login->url, origin, sizeof(origin)));
	if (!b->timeout_ms)
		b->timeout_ms = login->timeout_ms ? login->timeout_ms : QUESTION_TIMEOUT_HTTP;
	params_add_key(b, login->url);
	params_add_key(b, webaccess_key(login->access));
}

/* "redis 5c1f..." */
static char *make_key(struct scaler_build *b, const struct scaler_type *type)
{
	struct buf all = BUF_INIT(KEY_MAX);
	char print[HASH_TEXT], *key;

	for (size_t i = 0; b->data && type->tables[i]; i++)
		if (!type->tables[i]->login)
			params_put_key(type->tables[i], b->data, &all);
	buf_append(&all, &b->timeout_ms, sizeof(b->timeout_ms));
	buf_append(&all, buf_text(&b->key), b->key.len);
	key = buf_failed(&all) || buf_failed(&b->key)
		? NULL
		: mem_printf("%s %s", type->name, hash_text(buf_text(&all), all.len, print));
	buf_done_secret(&all);
	return key;
}

/* Resource metrics have no question. */
static int make_question(struct scaler_build *b, const struct scaler_type *type, struct err *err)
{
	char *key;

	if (b->open || b->scaler->kind != METRIC_EXTERNAL)
		return 0;
	name_http(b, type);
	key = make_key(b, type);
	if (!key)
		return err_set(err, ERR_INVALID, "the parameters together have more than %zu bytes", KEY_MAX);
	b->scaler->question = question_new(type, key, b->source, b->data);
	b->scaler->question->timeout_ms = b->timeout_ms;
	b->source = NULL;
	b->data = NULL;
	return 0;
}

static int run(struct scaler_build *b, const struct scaler_type *type, struct err *err)
{
	if (read_tables(b, type, err) || type->build(b, err) ||
		(b->scaler->kind == METRIC_EXTERNAL && params_metric_type(b->params, &b->scaler->target_type, err)))
		return -1;
	return make_question(b, type, err);
}

static int build_once(const struct scaler_params *params, const struct scaler_type *type, struct scaler *out,
	char **name, struct err *err)
{
	struct scaler_params shared = *params;
	struct scaler_build b = { .params = &shared, .scaler = out, .key = BUF_INIT(KEY_MAX) };
	int rc;

	*out = (struct scaler){ .type = type, .index = params->index };
	shared.build = &b;
	rc = run(&b, type, err);
	if (rc) {
		mem_free_ptr(&b.metric_name);
		scaler_done(out);
	}
	question_data_free(type, b.data);
	params_logins_done(&b);
	free(b.source);
	buf_done_secret(&b.key);
	*name = b.metric_name;
	return rc;
}

/* Takes name. */
static void complete(const struct scaler_params *params, struct scaler *out, char *name)
{
	struct scaler_build told = { .scaler = out };
	struct scaler_params shared = *params;

	shared.build = &told;
	tell_identity(&shared, out->type);
	out->unknown = params_unknown(params);
	out->shortened = params_shortened(params);
	if (out->question)
		out->question->namespace_ = mem_dup(params->namespace_);
	out->trigger_name = mem_dup(params->name);
	if (name && !out->whole_name)
		params_normalise(name);
	out->metric_name = out->kind == METRIC_EXTERNAL && name && !out->whole_name
		? mem_printf("s%d-%s", params->index, name)
		: mem_dup(name);
	free(name);
}

/* ---- Faults ---- */

/*
 * Names the parameter of an error that no row reported: by the error's `about`, or from its text:
 * `parameter "topic": ...`.
 */
static void find_name(struct param_fault *f)
{
	const char *name = text_behind(f->err.msg, "parameter \"");
	size_t len;

	name = name ? name : text_behind(f->err.msg, "unable to set param \"");
	len = name ? strcspn(name, "\"") : 0;
	if (f->err.about && !*f->about)
		snprintf(f->about, sizeof(f->about), "%s", f->err.about);
	if (*f->about || len == 0 || len >= sizeof(f->about))
		return;
	memcpy(f->about, name, len);
	f->about[len] = '\0';
}

static bool is_told(const struct param_faults *faults, const char *about)
{
	for (size_t i = 0; i < faults->count; i++)
		if (strcmp(faults->list[i].about, about) == 0)
			return true;
	return false;
}

/*
 * Records the next fault. Returns whether another build may find a further one, which needs a fault
 * of a parameter without one so far. Errors about a stand-in do not count.
 */
static bool note_fault(struct param_faults *faults)
{
	struct param_fault *f = &faults->list[faults->count];

	find_name(f);
	if (faults->count > 0 &&
		(f->err.kind == ERR_NONE || strstr(f->err.msg, PARAM_STAND_IN) ||
			(*f->about && is_told(faults, f->about))))
		return false;
	faults->count++;
	return f->err.kind == ERR_INVALID && *f->about && faults->count < PARAM_FAULTS_MAX;
}

int scaler_try(const struct scaler_params *params, struct scaler *out, struct param_faults *faults)
{
	const struct scaler_type *type = scaler_type_find(params->type);
	struct scaler_params tracked = *params;
	bool built, goes_on;
	char *name;

	faults->count = 0;
	faults->unknown = NULL;
	if (!type) {
		MEM_AUTO char *why = missingtypes_explain(params->type);
		struct param_fault *f = &faults->list[faults->count++];

		f->about[0] = '\0';
		/* KEDA's words, and the replacement, which KEDA does not name. */
		return err_set(&f->err, ERR_INVALID, "no scaler found for type: %s (%s)", params->type, why);
	}
	tracked.tables = type->tables;
	tracked.faults = faults;
	computing_for(params->namespace_ ? params->namespace_ : "");
	do {
		struct param_fault *f = &faults->list[faults->count];

		f->about[0] = '\0';
		f->err = (struct err){ 0 };
		tracked.about = f->about;
		built = build_once(&tracked, type, out, &name, &f->err) == 0;
		goes_on = !built && note_fault(faults);
	} while (goes_on);
	if (faults->count == 0) {
		complete(&tracked, out, name);
		return 0;
	}
	if (built) {
		free(name);
		scaler_done(out);
	}
	faults->unknown = params_unknown(&tracked);
	return -1;
}

/* ---- All faults in one error ---- */

#define ROOM (ERR_MSG_MAX - 128) /* the rest is for what callers prepend */

static void add(struct buf *out, const char *text, const char *more, size_t *left_out)
{
	if (out->len > 0 && out->len + strlen(text) + strlen(more) > ROOM)
		++*left_out;
	else
		buf_printf(out, "%s%s%s", out->len > 0 ? "; " : "", text, more);
}

void scaler_wrap(const struct scaler_params *params, struct err *err)
{
	if (scaler_type_find(params->type))
		err_wrap(err, "trigger %d (%s)", params->index, params->type);
	else
		err_wrap(err, "trigger %d", params->index);
}

int scaler_build(const struct scaler_params *params, struct scaler *out, struct err *err)
{
	struct buf text = BUF_INIT(2 * ERR_MSG_MAX);
	struct param_faults faults;
	size_t left_out = 0;

	if (scaler_try(params, out, &faults) == 0)
		return 0;
	for (size_t i = 0; i < faults.count; i++)
		add(&text, faults.list[i].err.msg, "", &left_out);
	if (faults.unknown)
		add(&text, "no parameter is named ", faults.unknown, &left_out);
	if (left_out > 0)
		buf_printf(&text, "; and %zu more", left_out);
	err_set(err, faults.list[0].err.kind, "%s", buf_text(&text));
	scaler_wrap(params, err);
	buf_done(&text);
	param_faults_done(&faults);
	return -1;
}
