/* SPDX-License-Identifier: Apache-2.0 */
#include "crd/workload.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/utf8.h"

#define VALUE_BYTES_MAX       (128 * 1024)  /* Linux's limit of one variable (MAX_ARG_STRLEN) */
#define ENVIRONMENT_BYTES_MAX (2048 * 1024) /* of all (ARG_MAX): a chain of $(A)$(A) grows exponentially */
#define REFERRED_MAX          2000          /* variables resolved only because a wanted one refers to them */
#define NAME_TOLD_MAX         100
#define REFERS                "refers to "

/*
 * One source of envFrom, looked up once: thousands of names may be searched in a hundred sources.
 */
struct env_from_source {
	bool asked;
	const struct strmap *data; /* NULL: unavailable, see err */
	struct err err;
};

struct environment {
	struct strmap *known, *unresolved;
	const struct workload_container *container;
	const struct workload_lookup *lookup;
	struct strmap needed;         /* a set: names that no entry after the current one defines */
	bool *entry_needed;           /* by the index of the container's env */
	struct env_from_source *from; /* by the index of its envFrom */
	size_t referred;              /* names added to needed by a reference */
	size_t room;                  /* bytes that may still be added */
	struct err waits;             /* the first look-up that is not finished; ERR_NONE: none */
};

static void leave_unresolved(struct environment *e, const char *name, const char *why)
{
	strmap_remove_secret(e->known, name);
	strmap_set(e->unresolved, name, why);
}

static void put_variable(struct environment *e, const char *name, const char *value)
{
	size_t len = strlen(value);

	if (len > VALUE_BYTES_MAX || len + strlen(name) > e->room) {
		leave_unresolved(e, name, "is too long");
		return;
	}
	e->room -= len + strlen(name);
	strmap_remove(e->unresolved, name);
	strmap_remove_secret(e->known, name);
	strmap_set(e->known, name, value);
}

/* After a failed look-up: true when the variable is merely undefined. */
static bool is_absent(struct environment *e, const char *name, bool optional, const struct err *err)
{
	MEM_AUTO char *why = NULL;

	if (err->kind == ERR_MISSING && optional)
		return true;
	/* ERR_TEMPORARY, a known reason, is reported before ERR_WAITING. */
	if ((err->kind == ERR_TEMPORARY && e->waits.kind != ERR_TEMPORARY) ||
		(err->kind == ERR_WAITING && e->waits.kind == ERR_NONE))
		e->waits = *err;
	why = mem_printf("is not available: %s", err->msg);
	leave_unresolved(e, name, why);
	return false;
}

/* ---- $(VAR) ---- */

/*
 * Appends the value of one $(name) to out, or the reference as written if nothing defines it. -1 if
 * the definition cannot be resolved; *why says why.
 */
static int expand_name(struct environment *e, const char *reference, size_t len, struct buf *out, char **why)
{
	MEM_AUTO char *name = mem_dupn(reference, len);
	const char *value = strmap_get(e->known, name),
		   *reason = value == NULL ? strmap_get(e->unresolved, name) : NULL;

	/* one link only: a chain of thousands must not make an endless text */
	if (reason != NULL && text_begins(reason, REFERS))
		*why = mem_dup(reason);
	else if (reason != NULL)
		*why = mem_printf(REFERS "%.*s, which %s", (int)utf8_cut(name, len, NAME_TOLD_MAX), name, reason);
	else if (value != NULL)
		buf_puts(out, value);
	else
		buf_printf(out, "$(%s)", name);
	return reason != NULL ? -1 : 0;
}

/* A part of a text: plain bytes, a dollar sign, or a reference with its name. */
struct env_piece {
	const char *text;
	size_t len;
	bool reference;
};

/*
 * The next piece of *text; false at its end. $(NAME) is a reference, $$ is a dollar sign, an
 * unclosed one stays (k8s.io/kubernetes third_party/forked/golang/expansion). KEDA leaves a $$ at
 * the end alone; the container itself sees one dollar sign, and so do we. last_close: the last ')'
 * of the whole text, searched once, or "$($($(" would take quadratic time.
 */
static bool next_piece(const char **text, const char *last_close, struct env_piece *out)
{
	const char *at = *text, *close;

	if (*at == '\0')
		return false;
	*out = (struct env_piece){ .text = at, .len = strcspn(at, "$") };
	if (out->len > 0) {
		*text += out->len;
		return true;
	}
	close = at[1] == '(' && last_close != NULL && at < last_close ? strchr(at, ')') : NULL;
	if (close != NULL) {
		*out = (struct env_piece){ .text = at + 2, .len = (size_t)(close - at - 2), .reference = true };
		*text = close + 1;
		return true;
	}
	out->len = 1;
	*text += at[1] == '$' ? 2 : 1;
	return true;
}

static int expand(struct environment *e, const char *text, struct buf *out, char **why)
{
	const char *last_close = strrchr(text, ')');
	struct env_piece piece;

	while (next_piece(&text, last_close, &piece)) {
		if (!piece.reference)
			buf_append(out, piece.text, piece.len);
		else if (expand_name(e, piece.text, piece.len, out, why) < 0)
			return -1;
	}
	return 0;
}

static void add_value(struct environment *e, const struct workload_env *env)
{
	struct buf out = BUF_INIT(VALUE_BYTES_MAX);
	char *why = NULL;

	buf_reserve(&out, 4096); /* may hold a secret */
	if (strlen(env->value) > VALUE_BYTES_MAX)
		leave_unresolved(e, env->name, "is too long");
	else if (expand(e, env->value, &out, &why) < 0)
		leave_unresolved(e, env->name, why);
	else if (buf_failed(&out))
		leave_unresolved(e, env->name, "is too long");
	else
		put_variable(e, env->name, buf_text(&out));
	free(why);
	buf_done_secret(&out);
}

/* ---- Needed variables ---- */

/* From the last entry to the first: an entry can refer only to earlier ones. */

static void need_referred(struct environment *e, const char *text)
{
	const char *last_close = strrchr(text, ')');
	struct env_piece piece;

	while (next_piece(&text, last_close, &piece)) {
		MEM_AUTO char *name = piece.reference && piece.len > 0 ? mem_dupn(piece.text, piece.len) : NULL;

		if (name == NULL || strmap_get(&e->needed, name) != NULL)
			continue;
		if (e->referred++ < REFERRED_MAX)
			strmap_set(&e->needed, name, "");
		else
			strmap_set(e->unresolved, name, "exceeds the limit of referenced variables");
	}
}

static void find_needed(struct environment *e, const struct strmap *wanted)
{
	const struct workload_container *c = e->container;

	strmap_copy(&e->needed, wanted);
	strmap_remove(&e->needed, ""); /* no variable has an empty name */
	e->entry_needed = mem_array(c->env_count + 1, sizeof(*e->entry_needed));
	for (size_t i = c->env_count; i-- > 0;) {
		const struct workload_env *env = &c->env[i];

		if (strmap_get(&e->needed, env->name) == NULL)
			continue;
		e->entry_needed[i] = true;
		/* An optional entry may be undefined: then an earlier definition applies. */
		if (!env->optional)
			strmap_remove(&e->needed, env->name);
		if (env->source == WORKLOAD_ENV_VALUE)
			need_referred(e, env->value);
	}
}

/* ---- EnvFrom and the references of env ---- */

static const struct env_from_source *source_of(struct environment *e, size_t index)
{
	const struct workload_env_from *from = &e->container->env_from[index];
	struct env_from_source *s = &e->from[index];

	if (!s->asked && e->lookup->all(e->lookup->arg, from->kind, from->name, &s->data, &s->err) != 0)
		s->data = NULL;
	s->asked = true;
	return s;
}

/* Takes one name from one source of envFrom; true if that settles it. */
static bool take_from(struct environment *e, size_t index, const char *name)
{
	const struct workload_env_from *from = &e->container->env_from[index];
	size_t prefix = strlen(from->prefix);
	const struct env_from_source *source;
	const char *value;

	if (strncmp(name, from->prefix, prefix) != 0)
		return false;
	source = source_of(e, index);
	if (source->data == NULL)
		return !is_absent(e, name, from->optional, &source->err);
	value = strmap_get(source->data, name + prefix);
	if (value == NULL)
		return false;
	put_variable(e, name, value);
	return true;
}

/* The last source that has it wins. */
static void add_from(struct environment *e, const char *name)
{
	const struct workload_container *c = e->container;

	for (size_t i = c->env_from_count; i-- > 0;)
		if (take_from(e, i, name))
			return;
}

static void note_left_out(struct environment *e, const char *name)
{
	MEM_AUTO char *why = NULL;

	if (e->container->env_left_out == 0)
		return;
	why = mem_printf("may be one of the variables past the first %d, which are not read", WORKLOAD_ENV_MAX);
	leave_unresolved(e, name, why);
}

static void add_key(struct environment *e, const struct workload_env *env, enum keydata_kind kind)
{
	const char *value = NULL;
	struct err err = { 0 };

	if (e->lookup->key(e->lookup->arg, kind, env->ref_name, env->ref_key, &value, &err) == 0)
		put_variable(e, env->name, value);
	else
		is_absent(e, env->name, env->optional, &err);
}

static void add_env(struct environment *e, const struct workload_env *env)
{
	switch (env->source) {
	case WORKLOAD_ENV_VALUE: add_value(e, env); break;
	case WORKLOAD_ENV_SECRET_KEY: add_key(e, env, KEYDATA_SECRET); break;
	case WORKLOAD_ENV_CONFIGMAP_KEY: add_key(e, env, KEYDATA_CONFIG_MAP); break;
	case WORKLOAD_ENV_OTHER: leave_unresolved(e, env->name, "comes from a field of the pod"); break;
	}
}

static void read_all(struct environment *e)
{
	const struct workload_container *c = e->container;

	for (size_t i = 0; i < e->needed.count; i++) {
		const char *name = e->needed.pairs[i].key;

		note_left_out(e, name);
		add_from(e, name);
	}
	for (size_t i = 0; i < c->env_count; i++)
		if (e->entry_needed[i])
			add_env(e, &c->env[i]);
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

int workload_environment(const struct workload *w, const char *container, const struct strmap *wanted,
	const struct workload_lookup *lookup, struct strmap *out, struct strmap *unresolved, struct err *err)
{
	struct environment e = { .known = out,
		.unresolved = unresolved,
		.lookup = lookup,
		.room = ENVIRONMENT_BYTES_MAX };

	if (w->no_environment != NULL)
		return err_set(err, ERR_DENIED, "%s", w->no_environment);
	if (w->container_count == 0)
		return 0;
	e.container = find_container(w, container);
	if (e.container == NULL)
		return err_set(err, ERR_INVALID, "%s has no container \"%s\"", w->name, container);
	e.from = mem_array(e.container->env_from_count + 1, sizeof(*e.from));
	find_needed(&e, wanted);
	read_all(&e);
	free(e.from);
	strmap_done(&e.needed);
	free(e.entry_needed);
	if (e.waits.kind == ERR_NONE)
		return 0;
	if (err)
		*err = e.waits;
	return -1;
}
