/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ask/get.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"
#include "cli/commands.h"

#define COLUMNS                                                                                                        \
	"{'columnDefinitions':[{'name':'Name','priority':0},{'name':'Target','priority':0},{'name':'Min','priority':"  \
	"0},"                                                                                                          \
	"{'name':'Triggers','priority':1},{'name':'HPA','priority':1},{'name':'Reason','priority':0}],'rows':["
#define ROW(namespace_, cells) "{'cells':[" cells "],'object':{'metadata':{'namespace':'" namespace_ "'}}}"
#define WEB                    ROW("shop", "'web','Deployment/web',0,'redis','keda-hpa-web','active: the HPA scales'")
#define API                    ROW("shop", "'api','Rollout/a',null,null,null,null")
#define FROZEN                 ROW("bank", "'job','/',3,true,{},'paused\\nat \\u001b[1m3'")

static json_t *table_of(const char *quoted)
{
	MEM_AUTO char *text = mem_dup(quoted);
	json_t *json;

	for (char *c = text; *c; c++)
		if (*c == '\'')
			*c = '"';
	json = json_parse(text, strlen(text), NULL);
	assert_non_null(json);
	return json;
}

static void rendered(const char *quoted, size_t columns, bool wide, size_t count, const char *expected)
{
	struct asking_screen screen = { columns, 24 };
	struct buf out = BUF_INIT(100000);
	json_t *json = table_of(quoted);

	assert_int_equal(get_render(json, &screen, wide, &out), count);
	assert_string_equal(buf_text(&out), expected);
	json_decref(json);
	buf_done(&out);
}

static void prints_the_table(void **state)
{
	(void)state;
	rendered(COLUMNS FROZEN "," API "," WEB "]}", 0, false, 3,
		"NAMESPACE  NAME  TARGET          MIN  REASON\n"
		"bank       job   /               3    paused at  [1m3\n"
		"shop       api   Rollout/a       -\n"
		"shop       web   Deployment/web  0    active: the HPA scales\n");
	rendered(COLUMNS WEB "]}", 44, false, 1,
		"NAMESPACE  NAME  TARGET          MIN  REASON\n"
		"shop       web   Deployment/web  0    activ\xE2\x80\xA6\n");
	rendered(COLUMNS WEB "]}", 0, true, 1,
		"NAMESPACE  NAME  TARGET          MIN  TRIGGERS  HPA           REASON\n"
		"shop       web   Deployment/web  0    redis     keda-hpa-web  active: the HPA scales\n");
}

static void nothing_to_list(void **state)
{
	(void)state;
	rendered(COLUMNS "]}", 0, false, 0, "");
	rendered("{}", 0, false, 0, "");
	rendered("{'rows':'x','columnDefinitions':3}", 0, false, 0, "");
	rendered("{'rows':[3]}", 0, false, 1, "NAMESPACE\n\n");
}

/* The answer may have more columns than a table here: the first ones are shown. */
static void more_columns_than_shown(void **state)
{
	struct asking_screen screen = { 0, 0 };
	struct buf out = BUF_INIT(100000);
	json_t *table = json_pack("{s:[], s:[{s:[]}]}", "columnDefinitions", "rows", "cells");

	(void)state;
	for (int i = 0; i < 40; i++)
		json_array_append_new(json_object_get(table, "columnDefinitions"), json_pack("{s:s}", "name", "a"));
	assert_int_equal(get_render(table, &screen, false, &out), 1);
	assert_int_equal(strncmp(buf_text(&out), "NAMESPACE  A  A", 15), 0);
	json_decref(table);
	buf_done(&out);
}

static void tables_one_below_the_other(void **state)
{
	struct asking_screen screen = { 0, 0 };
	struct buf out = BUF_INIT(100000);
	json_t *one = table_of("{'columnDefinitions':[{'name':'Name'}],'rows':[" ROW("a", "'b'") "]}");
	json_t *none = table_of("{'columnDefinitions':[{'name':'Name'}],'rows':[]}");

	(void)state;
	get_render(one, &screen, false, &out);
	get_render(none, &screen, false, &out);
	get_render(one, &screen, false, &out);
	assert_string_equal(buf_text(&out), "NAMESPACE  NAME\na          b\n\nNAMESPACE  NAME\na          b\n");
	json_decref(one);
	json_decref(none);
	buf_done(&out);
}

static void kinds_by_name(void **state)
{
	static const struct {
		const char *word, *kind;
	} cases[] = {
		{ "so", "scaledobjectinsights" },
		{ "soi", "scaledobjectinsights" },
		{ "sji", "scaledjobinsights" },
		{ "scaledobject", "scaledobjectinsights" },
		{ "scaledobjects", "scaledobjectinsights" },
		{ "sj", "scaledjobinsights" },
		{ "scaledjob", "scaledjobinsights" },
		{ "scaledjobs", "scaledjobinsights" },
		{ "", NULL },
		{ "s", NULL },
		{ "sjs", NULL },
		{ "ScaledJob", NULL },
		{ "job", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *kind = asking_resource(cases[i].word);

		if (!kind || !cases[i].kind ? kind != cases[i].kind : strcmp(kind, cases[i].kind) != 0)
			fail_msg("%s is %s", cases[i].word, kind ? kind : "none");
	}
}

static void paths(void **state)
{
	static const struct {
		const char *namespace_, *name, *path;
	} cases[] = {
		{ NULL, NULL, "/apis/insight.kscaled.io/v1/scaledobjectinsights" },
		{ "shop", NULL, "/apis/insight.kscaled.io/v1/namespaces/shop/scaledobjectinsights" },
		{ "shop", "web", "/apis/insight.kscaled.io/v1/namespaces/shop/scaledobjectinsights/web" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		MEM_AUTO char *path = asking_path(ASKING_OBJECTS, cases[i].namespace_, cases[i].name);

		assert_string_equal(path, cases[i].path);
	}
}

/* Nothing listens there. */
static void usage(void **state)
{
	static const struct {
		const char *arguments[4];
		int status;
	} cases[] = {
		{ { "get", "--help" }, 0 },
		{ { "get", "more" }, 2 },
		{ { "get", "-o", "yaml" }, 2 },
		{ { "get", "-n", "A_b" }, 2 },
		{ { "get", "-n", "a/b" }, 2 },
		{ { "get", "--nonsense" }, 2 },
		{ { "get", "-n" }, 2 },
		{ { "get" }, 2 },
		{ { "get", "--status-address", "127.0.0.1:8080" }, 2 },
		{ { "get", "--socket", "/nonexistent/i.sock" }, 2 },
		{ { "get", "--kubeconfig=/nonexistent/k" }, 2 },
		{ { "get", "--socket=/a", "--kubeconfig=/b" }, 2 },
		{ { "get", "sj", "so" }, 2 },
		{ { "get", "sj" }, 2 },
		{ { "get", "-n", "shop", "sj" }, 2 },
	};

	(void)state;
	/* Nothing listens there. */
	setenv("KSCALED_INSIGHT_SOCKET", "/nonexistent/insight.sock", 1);
	setenv("KSCALED_KUBECONFIG", "/nonexistent/kubeconfig", 1);
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char copies[4][32], *argv[5] = { NULL };
		int argc = 0;

		for (; argc < 4 && cases[i].arguments[argc]; argc++) {
			snprintf(copies[argc], sizeof(copies[argc]), "%s", cases[i].arguments[argc]);
			argv[argc] = copies[argc];
		}
		assert_int_equal(commandline_run(&cli_get_line, argc, argv), cases[i].status);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(prints_the_table),
		cmocka_unit_test(nothing_to_list),
		cmocka_unit_test(more_columns_than_shown),
		cmocka_unit_test(tables_one_below_the_other),
		cmocka_unit_test(kinds_by_name),
		cmocka_unit_test(paths),
		cmocka_unit_test(usage),
	};

	return cmocka_run_group_tests_name("cli/ask/get", tests, NULL, NULL);
}
