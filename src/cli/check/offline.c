/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/check/offline.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"

#define ANY_MAX          20000 /* names generated for one object's envFrom */
#define PIECE_LENGTH_MIN 3     /* shorter parts of a secret occur in every message */

/* ---- The lookup ---- */

static enum reference_state missing(const char *kind, const char *namespace_, const char *name, struct err *err)
{
	err_set(err, ERR_MISSING, "%s %s%s%s is not in the input", kind, namespace_, *namespace_ ? "/" : "", name);
	return REFERENCE_MISSING;
}

static struct catalogue_entry *find_auth(struct offline *o, bool cluster, const char *namespace_, const char *name)
{
	return catalogue_find(o->catalogue, cluster ? TRIGGERAUTH_CLUSTER_KIND : TRIGGERAUTH_KIND,
		cluster ? "" : namespace_, name);
}

static enum reference_state find_triggerauth(void *arg, bool cluster, const char *namespace_, const char *name,
	const struct triggerauth **out, struct err *err)
{
	struct offline *o = arg;
	struct catalogue_entry *e = find_auth(o, cluster, namespace_, name);

	if (!e && o->complete)
		return missing(cluster ? TRIGGERAUTH_CLUSTER_KIND : TRIGGERAUTH_KIND, cluster ? "" : namespace_, name,
			err);
	*out = e && (o->own || !e->faulty) ? catalogue_triggerauth(o->catalogue, e) : NULL;
	if (!*out)
		o->open = true;
	return REFERENCE_FOUND;
}

static void hand_out(struct offline *o, enum keydata_kind kind, const char *value)
{
	if (kind != KEYDATA_SECRET || !*value)
		return;
	o->secrets = mem_resize(o->secrets, o->secret_count + 1, sizeof(*o->secrets));
	o->secrets[o->secret_count++] = value;
}

static enum reference_state find_key(void *arg, enum keydata_kind kind, const char *namespace_, const char *name,
	const char *key, const char **out, struct err *err)
{
	struct offline *o = arg;
	struct catalogue_entry *e = catalogue_find(o->catalogue, keydata_kind_name(kind), namespace_, name);
	const struct strmap *data, *unreadable;

	if (!e && o->complete && strcmp(name, OFFLINE_UNKNOWN) != 0)
		return missing(keydata_kind_name(kind), namespace_, name, err);
	*out = OFFLINE_UNKNOWN;
	if (!e)
		return REFERENCE_FOUND;
	data = catalogue_data(e, kind, &unreadable);
	*out = strmap_get(data, key);
	if (*out) {
		hand_out(o, kind, *out);
		return REFERENCE_FOUND;
	}
	if (strmap_get(unreadable, key))
		err_set(err, ERR_INVALID, "%s \"%s\" of %s %s/%s %s", keydata_key_called(kind), key,
			keydata_kind_name(kind), namespace_, name, strmap_get(unreadable, key));
	else
		err_set(err, ERR_MISSING, "%s %s/%s has no %s \"%s\"", keydata_kind_name(kind), namespace_, name,
			keydata_key_called(kind), key);
	return REFERENCE_MISSING;
}

static enum reference_state find_all(void *arg, enum keydata_kind kind, const char *namespace_, const char *name,
	const struct strmap **out, struct err *err)
{
	struct offline *o = arg;
	struct catalogue_entry *e = catalogue_find(o->catalogue, keydata_kind_name(kind), namespace_, name);
	const struct strmap *unreadable;

	if (!e && o->complete)
		return missing(keydata_kind_name(kind), namespace_, name, err);
	*out = e ? catalogue_data(e, kind, &unreadable) : &o->any;
	for (size_t i = 0; e && i < (*out)->count; i++)
		hand_out(o, kind, (*out)->pairs[i].value);
	return REFERENCE_FOUND;
}

/*
 * Files of kscaled's host, secrets in Vault and secret managers, and tokens are never in the input.
 */
static enum reference_state find_file(void *arg, const char *path, const struct strmap **out, struct err *err)
{
	static const struct strmap nothing;
	struct offline *o = arg;

	(void)path;
	(void)err;
	o->open = true;
	*out = &nothing;
	return REFERENCE_FOUND;
}

static enum reference_state find_vault(void *arg, const struct triggerauth *t, size_t secret, const char *namespace_,
	const char **out, struct err *err)
{
	(void)arg;
	(void)t;
	(void)secret;
	(void)namespace_;
	(void)err;
	*out = OFFLINE_UNKNOWN;
	return REFERENCE_FOUND;
}

struct auth_lookup offline_lookup(struct offline *o)
{
	return (struct auth_lookup){
		.arg = o,
		.triggerauth = find_triggerauth,
		.key = find_key,
		.all = find_all,
		.file = find_file,
		.vault = find_vault,
		.managed = auth_unknown_managed,
		.token = auth_unknown_token,
		.cluster_namespace = o->rules->cluster_namespace,
		.restrict_secrets = o->rules->restrict_secrets,
		.cloud = AUTH_CLOUD_ALL,
		.azure_trusted = "*",
		.aws_trusted = "*",
		.aws_region = "us-east-1",
		.unknown = OFFLINE_UNKNOWN,
	};
}

struct auth_lookup offline_rules_of(const struct offline *o)
{
	const struct offline_rules *rules = o->rules;

	return (struct auth_lookup){
		.cluster_namespace = rules->cluster_namespace,
		.restrict_secrets = rules->restrict_secrets,
		.no_files = !rules->file_root,
		.cloud = rules->cloud,
		.azure_trusted = rules->azure_trusted,
		.aws_trusted = rules->aws_trusted,
		.vault_trusted = rules->vault_trusted,
		.vault_token = true, /* its environment and region are unknown */
		.vault_files = rules->vault_files != NULL,
		.aws_region = "us-east-1",
	};
}

/* ---- Referenced variables ---- */

static const struct triggerauth *triggerauth_of(struct offline *o, const struct scaled *of, const struct trigger *t)
{
	bool cluster = t->auth_kind && strcmp(t->auth_kind, TRIGGERAUTH_CLUSTER_KIND) == 0;
	struct catalogue_entry *e = t->auth_name ? find_auth(o, cluster, of->meta->namespace_, t->auth_name) : NULL;

	return e ? catalogue_triggerauth(o->catalogue, e) : NULL;
}

/* Names of variables, and of the containers that should have them. */
struct wanted_names {
	struct strmap variables;
	struct strmap containers;
};

static void find_wanted(struct offline *o, const struct scaled *of, struct wanted_names *w)
{
	auth_variable_names(of, &w->variables);
	if (of->env_source_container && *of->env_source_container)
		strmap_set(&w->containers, of->env_source_container, "");
	for (size_t i = 0; i < of->trigger_count; i++) {
		const struct triggerauth *t = triggerauth_of(o, of, &of->triggers[i]);

		for (size_t j = 0; t && j < t->env_count; j++) {
			strmap_set(&w->variables, t->env[j].name, "");
			if (t->env[j].container && *t->env[j].container)
				strmap_set(&w->containers, t->env[j].container, "");
		}
	}
	if (w->containers.count == 0)
		strmap_set(&w->containers, "main", "");
}

/* envFrom may put a prefix before a key, so each suffix of a name may be the key. */
static void add_ends(struct strmap *any, const char *name)
{
	for (; *name && any->count < ANY_MAX; name++)
		strmap_set(any, name, OFFLINE_UNKNOWN);
}

void offline_end(struct offline *o)
{
	strmap_done(&o->any);
	free(o->secrets);
	o->secrets = NULL;
	o->secret_count = 0;
}

/* ---- The target ---- */

static json_t *container_with_all(const char *name, const struct strmap *variables)
{
	json_t *env = json_array();

	for (size_t i = 0; i < variables->count; i++)
		json_array_append_new(env,
			json_pack("{s:s, s:s}", "name", variables->pairs[i].key, "value", OFFLINE_UNKNOWN));
	return json_pack("{s:s, s:o}", "name", name, "env", env);
}

static json_t *target_with_all(const struct wanted_names *w)
{
	json_t *containers = json_array();

	for (size_t i = 0; i < w->containers.count; i++)
		json_array_append_new(containers, container_with_all(w->containers.pairs[i].key, &w->variables));
	return json_pack("{s:{s:s}, s:{s:{s:{s:s, s:o}}}}", "metadata", "name", "unknown", "spec", "template", "spec",
		"serviceAccountName", OFFLINE_UNKNOWN, "containers", containers);
}

const json_t *offline_target_object(struct offline *o, const struct scaledobject *so)
{
	char group[254], version[254];
	struct catalogue_entry *e = so->spec.target_name
		? catalogue_find(o->catalogue, scaledobject_target_kind(&so->spec), so->meta.namespace_,
			  so->spec.target_name)
		: NULL;
	const char *api_version;

	if (!e || scaledobject_target_gv(&so->spec, group, version, sizeof(group), NULL) < 0)
		return NULL;
	api_version = json_str_or_empty(e->doc->json, "apiVersion");
	return strncmp(api_version, group, strlen(group)) == 0 && (api_version[strlen(group)] == '/' || !*group)
		? e->doc->json
		: NULL;
}

static struct workload *read_anything(const struct wanted_names *w, struct err *err)
{
	json_t *made = target_with_all(w);
	struct workload *target = workload_decode(made, err);

	json_decref(made);
	return target;
}

/* A Deployment with the target's Pod template. Takes target. */
static struct workload *read_pods(struct offline *o, struct workload *target, const struct wanted_names *w,
	struct err *err)
{
	MEM_AUTO char *name = mem_dup(target->template_deployment), *namespace_ = mem_dup(target->namespace_);
	struct catalogue_entry *e = catalogue_find(o->catalogue, "Deployment", namespace_, name);

	workload_free(target);
	if (e)
		return workload_decode(e->doc->json, err);
	if (!o->complete)
		return read_anything(w, err);
	missing("Deployment", namespace_, name, err);
	return NULL;
}

static struct workload *read_target(struct offline *o, const struct scaled *of, const struct wanted_names *w,
	struct err *err)
{
	const json_t *object = of->so ? offline_target_object(o, of->so) : NULL;
	struct workload *target;

	if (object) {
		target = workload_decode(object, err);
		return target && target->template_deployment ? read_pods(o, target, w, err) : target;
	}
	if (of->sj) {
		target = scaledjob_workload(of->sj);
		if (!target)
			err_set(err, ERR_INVALID, "%s: no Pod template with containers that have an environment",
				of->sj->spec.template_text ? "spec.jobTargetRef.template" : "spec.jobTargetRef");
		return target;
	}
	return read_anything(w, err);
}

struct workload *offline_begin(struct offline *o, const struct scaled *of, struct err *err)
{
	struct wanted_names w = { 0 };
	struct workload *target;

	find_wanted(o, of, &w);
	for (size_t i = 0; i < w.variables.count; i++)
		add_ends(&o->any, w.variables.pairs[i].key);
	o->open = false;
	target = read_target(o, of, &w, err);
	strmap_done(&w.variables);
	strmap_done(&w.containers);
	return target;
}

/* ---- Secrets ---- */

/* Replaces the text between from and to; returns the end of the replacement. */
static char *hide(struct err *err, const char *from, const char *to)
{
	static const char instead[] = "(secret)";
	size_t before = (size_t)(from - err->msg);

	err_set(err, err->kind, "%.*s%s%s", (int)before, err->msg, instead, to);
	before += sizeof(instead) - 1;
	return err->msg + (before < strlen(err->msg) ? before : strlen(err->msg));
}

/* Whether the quotes contain a name: parameter "key". */
static bool is_name(const char *message, const char *quote)
{
	static const char *const words[] = { "param ", "parameter ", "parameters ", "key ", "and " };

	for (size_t i = 0; i < MEM_COUNT(words); i++)
		if ((size_t)(quote - message) >= strlen(words[i]) &&
			strncmp(quote - strlen(words[i]), words[i], strlen(words[i])) == 0)
			return true;
	return false;
}

static char *end_of_quote(char *from)
{
	char *end = strchr(from, '"');

	return end ? end : from + strlen(from);
}

/* Only in quotes, where messages have values; elsewhere it is an ordinary word. */
static void hide_piece(struct err *err, const char *piece, size_t len)
{
	char *quote = err->msg;

	while ((quote = strchr(quote, '"')) != NULL) {
		char *from = quote + 1, *end = end_of_quote(from), *found;

		while (!is_name(err->msg, quote) && (found = memmem(from, (size_t)(end - from), piece, len))) {
			from = hide(err, found, found + len);
			end = end_of_quote(from);
		}
		quote = *end ? end + 1 : end;
	}
}

void offline_hide(const struct offline *o, struct err *err)
{
	static const char between[] = ", \t\r\n\"";

	for (size_t i = 0; i < o->secret_count; i++) {
		const char *piece = o->secrets[i];
		size_t whole = strlen(piece);

		if (!piece[strspn(piece, between)])
			continue;
		hide_piece(err, piece, whole);
		for (size_t len; *piece; piece += len + strspn(piece + len, between)) {
			len = strcspn(piece, between);
			if (len >= PIECE_LENGTH_MIN && len < whole)
				hide_piece(err, piece, len);
		}
	}
}
