/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/workload.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/utf8.h"

#define VALUE_BYTES_MAX (128 * 1024)        /* what Linux lets one variable have (MAX_ARG_STRLEN) */
#define ENVIRONMENT_BYTES_MAX (2048 * 1024) /* and all together (ARG_MAX): $(A)$(A) in a chain doubles without end */
#define NAME_TOLD_MAX 100
#define REFERS "refers to "

struct environment {
	struct strmap *known, *unresolved;
	const struct workload_container *container;
	size_t room; /* bytes that may still be added */
};

static void leave_unresolved(struct environment *e, const char *name, const char *why)
{
	strmap_remove(e->known, name);
	strmap_set(e->unresolved, name, why);
}

/* Why a name that no entry of `env` defines may have a value all the same: NULL when it has none. */
static const char *elsewhere(const struct environment *e)
{
	return strmap_get(e->unresolved, WORKLOAD_ENV_ANY);
}

/* The value of one $(name): appended to out, or left as it is written when nothing defines it. -1 when it is defined by something that is not read here; *why says by what. */
static int expand_name(struct environment *e, const char *reference, size_t len, struct buf *out, char **why)
{
	char *name = mem_dupn(reference, len);
	const char *value = strmap_get(e->known, name), *reason = NULL;

	if (value == NULL)
		reason = strmap_get(e->unresolved, name) != NULL ? strmap_get(e->unresolved, name) : elsewhere(e);
	if (reason != NULL && strncmp(reason, REFERS, strlen(REFERS)) == 0) /* told already; a chain of thousands must not make a text of thousands of links */
		*why = mem_dup(reason);
	else if (reason != NULL)
		*why = mem_printf(REFERS "%.*s, which %s", (int)utf8_cut(name, len, NAME_TOLD_MAX), name, reason);
	else if (value != NULL)
		buf_puts(out, value);
	else
		buf_printf(out, "$(%s)", name);
	free(name);
	return reason != NULL ? -1 : 0;
}

/*
 * $(NAME) is replaced, $$ is a dollar sign, an unclosed or unknown reference stays (k8s.io/kubernetes third_party/forked/golang/expansion). KEDA leaves a $$ at the end
 * alone; the container itself sees one dollar sign, and so do we.
 */
static int expand(struct environment *e, const char *text, struct buf *out, char **why)
{
	const char *last_close = strrchr(text, ')'); /* looked for once, or "$($($(" takes the square of its length */

	while (*text != '\0') {
		size_t plain = strcspn(text, "$");
		const char *close;

		buf_append(out, text, plain);
		text += plain;
		if (*text == '\0')
			break;
		close = text[1] == '(' && last_close != NULL && text < last_close ? strchr(text, ')') : NULL;
		if (close != NULL) {
			if (expand_name(e, text + 2, (size_t)(close - text - 2), out, why) < 0)
				return -1;
			text = close + 1;
			continue;
		}
		buf_putc(out, '$');
		text += text[1] == '$' ? 2 : 1;
	}
	return 0;
}

static void add_value(struct environment *e, const struct workload_env *env)
{
	struct buf out = BUF_INIT(VALUE_BYTES_MAX);
	char *why = NULL;

	if (strlen(env->value) <= VALUE_BYTES_MAX && expand(e, env->value, &out, &why) < 0) {
		leave_unresolved(e, env->name, why);
	} else if (strlen(env->value) > VALUE_BYTES_MAX || buf_failed(&out) || out.len + strlen(env->name) > e->room) {
		leave_unresolved(e, env->name, "is too long");
	} else {
		e->room -= out.len + strlen(env->name);
		strmap_remove(e->unresolved, env->name);
		strmap_set(e->known, env->name, buf_text(&out));
	}
	free(why);
	buf_done(&out);
}

static void add_reference(struct environment *e, const struct workload_env *env, const char *kind)
{
	char *why = mem_printf("comes from %s %s key %s", kind, env->ref_name, env->ref_key);

	leave_unresolved(e, env->name, why);
	free(why);
}

static void add_env(struct environment *e, const struct workload_env *env)
{
	if (*env->name == '\0' || strcmp(env->name, WORKLOAD_ENV_ANY) == 0)
		return;
	switch (env->source) {
	case WORKLOAD_ENV_VALUE:
		add_value(e, env);
		break;
	case WORKLOAD_ENV_SECRET_KEY:
		add_reference(e, env, "Secret");
		break;
	case WORKLOAD_ENV_CONFIGMAP_KEY:
		add_reference(e, env, "ConfigMap");
		break;
	case WORKLOAD_ENV_OTHER:
		leave_unresolved(e, env->name, "comes from a field of the pod");
		break;
	}
}

/* Of envFrom not even the names are known here, so any name may come from there. */
static void note_env_from(struct environment *e)
{
	const struct workload_container *c = e->container;
	struct buf why = BUF_INIT(512);

	if (c->env_left_out > 0)
		buf_printf(&why, "may be one of the variables past the first %d, which are not read", WORKLOAD_ENV_MAX);
	for (size_t i = 0; i < c->env_from_count; i++)
		buf_printf(&why, "%s %s %s", why.len > 0 ? " or" : "may come from", c->env_from[i].secret ? "Secret" : "ConfigMap", c->env_from[i].name);
	if (why.len > 0)
		strmap_set(e->unresolved, WORKLOAD_ENV_ANY, buf_text(&why));
	buf_done(&why);
}

static const struct workload_container *find_container(const struct workload *w, const char *name)
{
	if (name == NULL || *name == '\0')
		return &w->containers[0];
	for (size_t i = 0; i < w->container_count; i++)
		if (strcmp(w->containers[i].name, name) == 0)
			return &w->containers[i];
	return NULL;
}

int workload_environment(const struct workload *w, const char *container, struct strmap *out, struct strmap *unresolved, struct err *err)
{
	struct environment e = { .known = out, .unresolved = unresolved, .room = ENVIRONMENT_BYTES_MAX };

	if (w->container_count == 0)
		return 0;
	e.container = find_container(w, container);
	if (e.container == NULL)
		return err_set(err, ERR_INVALID, "spec.scaleTargetRef.envSourceContainerName: %s has no container \"%s\"", w->name, container);
	note_env_from(&e);
	for (size_t i = 0; i < e.container->env_count; i++)
		add_env(&e, &e.container->env[i]);
	return 0;
}
