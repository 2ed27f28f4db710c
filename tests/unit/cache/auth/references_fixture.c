/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "references_fixture.h"

#include "../../fakes/fakeobjects.h"
#include "base/base64.h"
#include "base/log.h"
#include "base/mem.h"

struct references_fixture t;

static void on_change(void *arg, struct object *o, unsigned changes)
{
	const char *owner = o->key;

	assert_int_equal(changes, OBJECT_NEEDS);
	assert_ptr_equal(arg, &t);
	t.told++;
	if (strlen(t.all) + strlen(owner) + 2 < sizeof(t.all)) {
		strcat(t.all, owner);
		strcat(t.all, " ");
	}
}

void forget_told(void)
{
	t.told = 0;
	t.all[0] = '\0';
}

static void take_line(void *arg, enum log_level level, const char *line)
{
	(void)arg;
	assert_null(strstr(line, "pw1"));
	if (level < LOG_LEVEL_WARN)
		return;
	t.warnings++;
	snprintf(t.warning, sizeof(t.warning), "%s", line);
}

int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	log_set_sink(take_line, NULL);
	t.references = references_new(fakecluster_start(fakeloop_start()));
	references_listen(t.references, on_change, &t);
	return 0;
}

int teardown(void **state)
{
	(void)state;
	references_free(t.references);
	fakeobjects_end();
	fakeloop_advance(0);
	fakecluster_end();
	fakeloop_end();
	log_set_sink(NULL, NULL);
	return 0;
}

void put(const char *path, ...)
{
	const char *key, *value;
	char text[4096] = "{'data':{";
	va_list ap;

	va_start(ap, path);
	while ((key = va_arg(ap, const char *)) != NULL) {
		MEM_AUTO char *coded = (value = va_arg(ap, const char *)) ? base64_encode(value, strlen(value)) : NULL;
		size_t len = strlen(text);

		if (coded)
			snprintf(text + len, sizeof(text) - len, "%s'%s':'%s'", text[len - 1] == '{' ? "" : ",", key,
				coded);
		else
			snprintf(text + len, sizeof(text) - len, "%s'%s':null", text[len - 1] == '{' ? "" : ",", key);
	}
	va_end(ap);
	strcat(text, "}}");
	if (fakecluster_get(path))
		fakecluster_change(path, text);
	else
		fakecluster_apply(path, text);
}

void put_numbered(int from, int to)
{
	for (int i = from; i <= to; i++) {
		MEM_AUTO char *path = mem_printf(SECRETS "/s%d", i);

		put(path, "key", "v1", NULL);
	}
}

enum reference_state ask(const char *owner, const char *name, const char *key, const char **value)
{
	const char *dropped;
	enum reference_state state = references_key(t.references, fakeobject(owner), KEYDATA_SECRET, "shop", name, key,
		value ? value : &dropped, &t.err);

	err_clear(state == REFERENCE_FOUND ? &t.err : NULL);
	return state;
}

const char *round_of(const char *owner, const char *name, const char *key)
{
	static char kept[ERR_MSG_MAX];
	const char *value;
	enum reference_state state;

	holdings_begin(fakeobject(owner));
	state = ask(owner, name, key, &value);
	holdings_end(fakeobject(owner));
	assert_int_equal(state == REFERENCE_FOUND, value != NULL);
	snprintf(kept, sizeof(kept), "%s", value ? value : t.err.msg);
	return kept;
}

enum reference_state state_of(const char *owner, const char *name, const char *key)
{
	enum reference_state state;

	holdings_begin(fakeobject(owner));
	state = ask(owner, name, key, NULL);
	holdings_end(fakeobject(owner));
	return state;
}

void want_numbered(int from, int to)
{
	for (int i = from; i <= to; i++) {
		char name[16], owner[24];

		snprintf(name, sizeof(name), "s%d", i);
		snprintf(owner, sizeof(owner), "shop/s%d", i);
		state_of(owner, name, "key");
	}
}

void assert_numbered(int from, int to, const char *expected)
{
	for (int i = from; i <= to; i++) {
		char name[16], owner[24];

		snprintf(name, sizeof(name), "s%d", i);
		snprintf(owner, sizeof(owner), "shop/s%d", i);
		assert_string_equal(round_of(owner, name, "key"), expected);
	}
}

void release_numbered(int from, int to)
{
	for (int i = from; i <= to; i++) {
		char owner[24];

		snprintf(owner, sizeof(owner), "shop/s%d", i);
		holdings_release(fakeobject(owner));
	}
}

size_t watches(void)
{
	assert_int_equal(references_stats(t.references).watches, fakecluster_watches(""));
	return fakecluster_watches("");
}
