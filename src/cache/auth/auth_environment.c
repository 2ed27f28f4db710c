/* SPDX-License-Identifier: Apache-2.0 */
/* Resolves the environment of the target's container, as far as triggers need it. */
#include <ctype.h>
#include <string.h>

#include "base/mem.h"
#include "cache/auth/auth_parts.h"

#define FROM_ENV "FromEnv"

/* Adds the variable that the parameter names, if it does. */
static void add_wanted(const struct strmap_pair *parameter, struct strmap *wanted)
{
	size_t len = strlen(parameter->key), tail = strlen(FROM_ENV);
	const char *text = parameter->value;
	MEM_AUTO char *name = NULL;

	if (len <= tail || strcmp(parameter->key + len - tail, FROM_ENV) != 0)
		return;
	while (isspace((unsigned char)*text))
		text++;
	len = strlen(text);
	while (len > 0 && isspace((unsigned char)text[len - 1]))
		len--;
	name = mem_dupn(text, len);
	if (*name)
		strmap_set(wanted, name, "");
}

void auth_variable_names(const struct scaled *of, struct strmap *wanted)
{
	for (size_t i = 0; i < of->trigger_count; i++)
		for (size_t j = 0; j < of->triggers[i].metadata.count; j++)
			add_wanted(&of->triggers[i].metadata.pairs[j], wanted);
}

/* ---- The look-up as a struct workload_lookup ---- */

struct env_source {
	const struct auth_lookup *lookup;
	const char *namespace_;
};

static int read_key(void *arg, enum keydata_kind kind, const char *name, const char *key, const char **value,
	struct err *err)
{
	const struct env_source *p = arg;

	return auth_key(p->lookup, kind, p->namespace_, name, key, value, err) == REFERENCE_FOUND ? 0 : -1;
}

static int read_all(void *arg, enum keydata_kind kind, const char *name, const struct strmap **data, struct err *err)
{
	const struct env_source *p = arg;

	return auth_all(p->lookup, kind, p->namespace_, name, data, err) == REFERENCE_FOUND ? 0 : -1;
}

int auth_variables(const struct auth_lookup *lookup, const struct scaled *of, const struct workload *target,
	const char *container, const struct strmap *wanted, struct strmap *env, struct strmap *unresolved,
	struct err *err)
{
	struct env_source source = { lookup, of->meta->namespace_ };
	const struct workload_lookup functions = { .arg = &source, .key = read_key, .all = read_all };

	return workload_environment(target, container, wanted, &functions, env, unresolved, err);
}

int auth_environment(const struct auth_lookup *lookup, const struct scaled *of, const struct workload *target,
	struct strmap *env, struct strmap *unresolved, struct err *err)
{
	struct strmap wanted = { 0 };
	int failed;

	if (!target)
		return 0;
	auth_variable_names(of, &wanted);
	failed = auth_variables(lookup, of, target, of->env_source_container, &wanted, env, unresolved, err);
	strmap_done(&wanted);
	if (!failed)
		return 0;
	strmap_done_secret(env);
	strmap_done(unresolved);
	return err && err->kind == ERR_INVALID
		? err_wrap(err,
			  of->kind == SCALED_JOB ? "spec.envSourceContainerName"
						 : "spec.scaleTargetRef.envSourceContainerName")
		: -1;
}

char *auth_no_containers(const struct scaled *of, const struct workload *target)
{
	if (!target || target->container_count > 0 || target->no_environment)
		return NULL;
	if (!of->so)
		return mem_dup("the Pod template has no containers");
	return mem_printf("the scale target %s %s has no containers, nor a spec.workloadRef that names a Deployment",
		scaledobject_target_kind(&of->so->spec), target->name);
}

/* Whether any parameter names a variable; stops at the first. */
static bool names_variables(const struct scaled *of)
{
	struct strmap first = { 0 };
	bool found;

	for (size_t i = 0; i < of->trigger_count && !first.count; i++)
		for (size_t j = 0; j < of->triggers[i].metadata.count && !first.count; j++)
			add_wanted(&of->triggers[i].metadata.pairs[j], &first);
	found = first.count > 0;
	strmap_done(&first);
	return found;
}

bool auth_needs_target(const struct auth_lookup *lookup, const struct scaled *of)
{
	const char *container = of->env_source_container;
	/* as in KEDA, a named container must exist even if no variable is needed */
	bool needed = (container && *container) || names_variables(of);

	for (size_t i = 0; i < of->trigger_count && !needed; i++) {
		const struct triggerauth *t;

		needed = auth_of(lookup, of, &of->triggers[i], &t, NULL) == 0 && t &&
			(t->env_count > 0 || auth_is_of_workload(t) ||
				auth_manager_is_of_workload(t->aws_secret_manager));
	}
	return needed;
}
