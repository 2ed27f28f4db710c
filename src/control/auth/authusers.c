/* SPDX-License-Identifier: Apache-2.0 */
#include "control/auth/authusers.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/hash.h"
#include "base/mem.h"

#define MORE_BYTES 32 /* of ", and N more" */

/* The users of one authentication. */
struct authusers_list {
	char *key; /* "shop/redis", "/redis" */
	const struct meta **users;
	size_t count, room;
	UT_hash_handle hh;
};

static void add_user(struct authusers *u, const char *key, const struct meta *user)
{
	struct authusers_list *l;

	HASH_FIND_STR(u->lists, key, l);
	if (!l) {
		l = mem_zalloc(sizeof(*l));
		l->key = mem_dup(key);
		HASH_ADD_KEYPTR(hh, u->lists, l->key, strlen(l->key), l);
	}
	/* Several triggers of one object are adjacent. */
	if (l->count > 0 && l->users[l->count - 1] == user)
		return;
	if (l->count == l->room) {
		l->room = l->room > 0 ? 2 * l->room : 8;
		l->users = mem_resize(l->users, l->room, sizeof(*l->users));
	}
	l->users[l->count++] = user;
}

static void add_object(void *arg, struct object *o)
{
	struct authusers *u = arg;
	const struct scaled *of = &o->of;

	if (of->kind != u->kind)
		return;
	for (size_t i = 0; i < of->trigger_count; i++) {
		const struct trigger *t = &of->triggers[i];
		bool cluster = t->auth_kind && strcmp(t->auth_kind, TRIGGERAUTH_CLUSTER_KIND) == 0;
		bool own = !t->auth_kind || !*t->auth_kind || strcmp(t->auth_kind, TRIGGERAUTH_KIND) == 0;
		MEM_AUTO char *auth = t->auth_name
			? mem_printf("%s/%s", cluster ? "" : of->meta->namespace_, t->auth_name)
			: NULL;

		if (auth && (cluster || own))
			add_user(u, auth, of->meta);
	}
}

void authusers_gather(struct authusers *u, const struct store *store)
{
	store_each_object(store, add_object, u);
}

static int by_name(const void *a, const void *b)
{
	const struct meta *x = *(const struct meta *const *)a, *y = *(const struct meta *const *)b;
	int order = strcmp(x->namespace_, y->namespace_);

	return order != 0 ? order : strcmp(x->name, y->name);
}

char *authusers_text(struct authusers *u, const char *key, size_t max)
{
	struct buf text = BUF_INIT(max + 1);
	struct authusers_list *l;
	bool cluster = *key == '/';

	HASH_FIND_STR(u->lists, key, l);
	if (!l)
		return mem_dup("");
	qsort(l->users, l->count, sizeof(*l->users), by_name);
	for (size_t i = 0; i < l->count; i++) {
		const struct meta *meta = l->users[i];
		size_t len = strlen(meta->name) + (cluster ? strlen(meta->namespace_) + 1 : 0) + 1;

		if (text.len + len + (i + 1 < l->count ? MORE_BYTES : 0) > max) {
			buf_printf(&text, ", and %zu more", l->count - i);
			break;
		}
		buf_printf(&text, "%s%s%s%s", i > 0 ? "," : "", cluster ? meta->namespace_ : "", cluster ? "/" : "",
			meta->name);
	}
	return buf_take(&text);
}

void authusers_done(struct authusers *u)
{
	struct authusers_list *l, *next;

	HASH_ITER (hh, u->lists, l, next) {
		HASH_DELETE(hh, u->lists, l);
		free(l->users);
		free(l->key);
		free(l);
	}
}
