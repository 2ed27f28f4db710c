/* SPDX-License-Identifier: Apache-2.0 */

/*
 * `kscaled explain [KIND] NAMESPACE/NAME`: prints on one screen why a ScaledObject has its
 * replicas, or a ScaledJob its Jobs. Asks the insight API (cli/ask/insightclient). -o json prints
 * the explanation (serve/explain/explain.h); its `also` is "ScaledJob" when no kind was given and a
 * ScaledJob has the name of the ScaledObject, too.
 */

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/dnsname.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "cli/ask/asking.h"
#include "cli/ask/explaintext.h"
#include "cli/commands.h"
#include "cli/fields.h"
#include "cli/kubectlplugin.h"
#include "cli/output.h"

struct explain_arguments {
	struct insightclient_ways ways;
	const char *namespace_, *output, *resource /* NULL: either */, *object;
};

static const char *const formats[] = { "json", NULL };

static const struct option options[] = {
	{ "namespace", OPTION_TEXT, offsetof(struct explain_arguments, namespace_), "NS", .letter = 'n',
		.help = "the namespace if only NAME is given (default: that of the kubeconfig, else the only one with "
			"this name)" },
	{ "output", OPTION_WORD, offsetof(struct explain_arguments, output), "json", .letter = 'o',
		.help = "print the answer as JSON", .words = formats },
	{ .name = NULL },
};

/* [KIND] NAME */
static int take_words(struct explain_arguments *a, char *const *words, int count, struct err *err)
{
	if (count != 1 && count != 2)
		return err_set(err, ERR_INVALID, "name one object: NAMESPACE/NAME");
	a->object = words[count - 1];
	a->resource = count == 2 ? asking_resource(words[0]) : NULL;
	if (count == 2 && !a->resource)
		return err_set(err, ERR_INVALID, "unknown kind \"%.80s\": use so (scaledobject) or sj (scaledjob)",
			words[0]);
	return 0;
}

/* The names of the object, which the caller owns; namespace NULL: not given. */
static int read_object(const struct explain_arguments *a, char **namespace_, char **name, struct err *err)
{
	const char *slash = strchr(a->object, '/');

	*name = mem_dup(slash ? slash + 1 : a->object);
	*namespace_ = slash     ? mem_dupn(a->object, (size_t)(slash - a->object))
		: a->namespace_ ? mem_dup(a->namespace_)
				: NULL;
	if (slash && a->namespace_ && strcmp(*namespace_, a->namespace_) != 0)
		return err_set(err, ERR_INVALID, "\"%.80s\" is not in the namespace \"%.80s\" given by -n", a->object,
			a->namespace_);
	if ((*namespace_ && !dnsname_is_subdomain(*namespace_, strlen(*namespace_))) ||
		!dnsname_is_subdomain(*name, strlen(*name)))
		return err_set(err, ERR_INVALID,
			"\"%s%s%.80s\" is not a valid NAMESPACE/NAME: lower-case letters, digits, \"-\" and \".\" are "
			"allowed",
			*namespace_ ? *namespace_ : "", *namespace_ ? "/" : "", *name);
	return 0;
}

/* ---- Asking ---- */

static json_t *ask(struct insightclient *client, const char *resource, const char *namespace_, const char *name,
	struct err *err)
{
	MEM_AUTO char *path = asking_path(resource, namespace_, name);
	json_t *object, *explanation;

	if (insightclient_get(client, path, "application/json", &object, err))
		return NULL;
	explanation = json_incref(json_object_get(object, "explanation"));
	json_decref(object);
	if (!explanation)
		err_set(err, ERR_TEMPORARY, "%s: the answer has no explanation", path);
	return explanation;
}

/* The ScaledObject of the name, noting a ScaledJob with the same name; else the ScaledJob. */
static json_t *ask_either(struct insightclient *client, const char *namespace_, const char *name, struct err *err)
{
	struct err of_job = { 0 };
	json_t *object = ask(client, ASKING_OBJECTS, namespace_, name, err), *job;

	if (!object && err->kind != ERR_MISSING && err->kind != ERR_DENIED)
		return NULL;
	job = ask(client, ASKING_JOBS, namespace_, name, &of_job);
	if (object && job)
		json_object_set_new(object, "also", json_string("ScaledJob"));
	if (!object && !job && err->kind == ERR_MISSING && of_job.kind == ERR_MISSING)
		err_set(err, ERR_MISSING, "%s; %s", err->msg, of_job.msg);
	if (!object)
		return job;
	json_decref(job);
	return object;
}

/* ---- Looking for a name in all namespaces ---- */

#define SHOWN_MAX 20 /* candidates */

/* The objects with a name. */
struct matches {
	json_t *objects;   /* "so shop/web", owned */
	char *namespace_;  /* of the first one, owned; NULL: none */
	bool is_ambiguous; /* in several namespaces */
};

static void matches_done(struct matches *b)
{
	json_decref(b->objects);
	free(b->namespace_);
}

static void take_matches(struct matches *b, const char *word, const json_t *table)
{
	const json_t *row;
	size_t i;

	json_array_foreach(json_object_get(table, "rows"), i, row)
	{
		const char *namespace_ = fields_text(row, "object.metadata.namespace");

		json_array_append_new(b->objects,
			json_sprintf("%s %s/%s", word, namespace_, fields_text(row, "object.metadata.name")));
		if (!b->namespace_)
			b->namespace_ = mem_dup(namespace_);
		b->is_ambiguous |= strcmp(b->namespace_, namespace_) != 0;
	}
}

/* resource: NULL: both kinds; the user may be allowed to list only one. */
static int find_matches(struct insightclient *client, const char *resource, const char *name, struct matches *b,
	struct err *err)
{
	size_t answered = 0;

	*b = (struct matches){ .objects = json_array() };
	for (size_t i = 0; i < ASKING_KINDS; i++) {
		const struct asking_kind *kind = &asking_every_kind[i];
		MEM_AUTO char *all = asking_path(kind->resource, NULL, NULL);
		MEM_AUTO char *path = mem_printf("%s?fieldSelector=metadata.name%%3D%s", all, name);
		json_t *table = NULL;

		if (resource && strcmp(resource, kind->resource) != 0)
			continue;
		answered += insightclient_get(client, path, ASKING_TABLE, &table, err) == 0;
		take_matches(b, kind->word, table);
		json_decref(table);
	}
	return answered > 0 ? 0 : -1;
}

static void print_matches(const char *name, const struct matches *b)
{
	size_t i, count = json_array_size(b->objects);
	const json_t *one;

	const char *program = kubectlplugin_runs() ? "kubectl kscaled" : "kscaled";

	fprintf(stderr, "kscaled explain: %zu objects are named \"%s\"; choose one:\n", count, name);
	json_array_foreach(b->objects, i, one)
	{
		if (i < SHOWN_MAX)
			fprintf(stderr, "  %s explain %s\n", program, json_string_value(one));
	}
	if (count > SHOWN_MAX)
		fprintf(stderr, "  and %zu more\n", count - SHOWN_MAX);
}

static enum asking_exit print(const struct explain_arguments *a, const json_t *explanation, struct err *err)
{
	struct asking_screen screen = asking_screen();
	struct buf out = BUF_INIT(SIZE_MAX);
	enum asking_exit status;

	if (a->output)
		return output_json(explanation, err) < 0 ? ASKING_UNREACHABLE : ASKING_OK;
	explaintext_render(explanation, &screen, timestamp_now_ms(), &out);
	status = output_text(&out, err) < 0 ? ASKING_UNREACHABLE : ASKING_OK;
	buf_done(&out);
	return status;
}

static json_t *ask_in(struct insightclient *client, const struct explain_arguments *a, const char *namespace_,
	const char *name, struct err *err)
{
	return a->resource ? ask(client, a->resource, namespace_, name, err)
			   : ask_either(client, namespace_, name, err);
}

/*
 * For a name alone: the namespace of the kubeconfig, as kubectl does; else the only one with this
 * name. NULL: unknown, with an empty message if the candidates were printed.
 */
static json_t *ask_anywhere(struct insightclient *client, const struct explain_arguments *a, const char *name,
	struct err *err)
{
	const char *usual = insightclient_namespace(client);
	json_t *explanation = usual ? ask_in(client, a, usual, name, err) : NULL;
	struct err of_list = { 0 };
	struct matches b;

	if (explanation || (usual && err->kind != ERR_MISSING))
		return explanation;
	if (find_matches(client, a->resource, name, &b, &of_list) < 0) {
		if (!usual)
			*err = of_list; /* otherwise keep the error of the default namespace */
	} else if (b.is_ambiguous) {
		print_matches(name, &b);
		*err = (struct err){ .kind = ERR_MISSING };
	} else if (b.namespace_) {
		explanation = ask_in(client, a, b.namespace_, name, err);
	} else if (!usual) {
		err_set(err, ERR_MISSING, "no %s is named \"%.253s\" in any namespace",
			!a->resource                                    ? "ScaledObject or ScaledJob"
				: strcmp(a->resource, ASKING_JOBS) == 0 ? "ScaledJob"
									: "ScaledObject",
			name);
	}
	matches_done(&b);
	return explanation;
}

static enum asking_exit run(const struct explain_arguments *a, struct insightclient *client, const char *namespace_,
	const char *name, struct err *err)
{
	json_t *explanation = namespace_ ? ask_in(client, a, namespace_, name, err)
					 : ask_anywhere(client, a, name, err);
	enum asking_exit status = err->kind == ERR_MISSING ? ASKING_UNKNOWN : ASKING_UNREACHABLE;

	if (explanation)
		status = print(a, explanation, err);
	json_decref(explanation);
	return status;
}

static int run_explain(void *arguments, char **operands, int count, struct err *err)
{
	MEM_AUTO char *namespace_ = NULL, *name = NULL;
	struct explain_arguments *a = arguments;
	struct asking asking;
	int status = ASKING_UNREACHABLE;

	if (take_words(a, operands, count, err) < 0 || read_object(a, &namespace_, &name, err) < 0)
		return ASKING_UNREACHABLE;
	if (asking_begin(&asking, &a->ways, err) == 0)
		status = (int)run(a, asking.client, namespace_, name, err);
	asking_done(&asking);
	return status;
}

const struct commandline cli_explain_line = {
	.name = "explain",
	.summary = "explains the replicas or Jobs of an object",
	.usage = "[OPTION]... [KIND] [NAMESPACE/]NAME",
	.text = "Explain the replicas of a ScaledObject's target, or the Jobs of a ScaledJob: readings, the decision\n"
		"and what limited it, the state of the HorizontalPodAutoscaler, and recent changes with their "
		"reasons.\n"
		"\n"
		"KIND is so (scaledobject) or sj (scaledjob); without it, the ScaledObject of the name, else the\n"
		"ScaledJob.",
	.tables = { { .options = options },
		{ .options = asking_options, .base = offsetof(struct explain_arguments, ways) } },
	.removed = ASKING_REMOVED,
	.operands = true,
	.words = asking_kinds,
	.size = sizeof(struct explain_arguments),
	.run = run_explain,
};
