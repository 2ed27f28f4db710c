/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/access/requester.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/textlist.h"

#define GROUP_MASTERS         "system:masters"
#define GROUP_AUTHENTICATED   "system:authenticated"
#define GROUP_UNAUTHENTICATED "system:unauthenticated"
#define USER_ANONYMOUS        "system:anonymous"

static bool in_group(const struct review_user *user, const char *group)
{
	return textlist_has(user->groups, user->group_count, group);
}

void requester_add_extra(struct review_user *user, const char *key, const char *value)
{
	size_t count = user->extra_count;

	textlist_add(&user->extra_keys, &count, key);
	textlist_add(&user->extra_values, &user->extra_count, value);
}

/* Each list is preceded by its length, so that no group can be mistaken for an extra value. */
static void make_fingerprint(struct requester *who)
{
	const struct review_user *u = &who->user;
	const char **parts = mem_array(4 + u->group_count + 2 * u->extra_count, sizeof(*parts));
	char groups[24], extras[24];
	size_t n = 0;

	snprintf(groups, sizeof(groups), "%zu", u->group_count);
	snprintf(extras, sizeof(extras), "%zu", u->extra_count);
	parts[n++] = u->name;
	parts[n++] = u->uid;
	parts[n++] = groups;
	for (size_t i = 0; i < u->group_count; i++)
		parts[n++] = u->groups[i];
	parts[n++] = extras;
	for (size_t i = 0; i < u->extra_count; i++) {
		parts[n++] = u->extra_keys[i];
		parts[n++] = u->extra_values[i];
	}
	fingerprint_of(parts, n, who->fingerprint);
	free(parts);
}

struct requester *requester_new(const struct review_user *user)
{
	struct requester *who = mem_zalloc(sizeof(*who));

	who->refs = 1;
	who->user.name = mem_dup(user->name ? user->name : "");
	who->user.uid = mem_dup(user->uid);
	who->user.groups = textlist_copy(user->groups, user->group_count);
	who->user.group_count = user->group_count;
	for (size_t i = 0; i < user->extra_count; i++)
		requester_add_extra(&who->user, user->extra_keys[i], user->extra_values[i]);
	if (strcmp(who->user.name, USER_ANONYMOUS) && !in_group(user, GROUP_AUTHENTICATED) &&
		!in_group(user, GROUP_UNAUTHENTICATED))
		textlist_add(&who->user.groups, &who->user.group_count, GROUP_AUTHENTICATED);
	who->master = in_group(user, GROUP_MASTERS);
	make_fingerprint(who);
	return who;
}

struct requester *requester_ref(struct requester *who)
{
	who->refs++;
	return who;
}

void requester_unref(struct requester *who)
{
	if (!who || --who->refs > 0)
		return;
	review_user_done(&who->user);
	free(who);
}
