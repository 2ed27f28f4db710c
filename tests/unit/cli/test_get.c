/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/get.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "base/json.h"
#include "base/mem.h"

#define WEB                                                                                                            \
	"{'kind':'ScaledObject','namespace':'shop','name':'web','target':{'kind':'Deployment','name':'web','replicas'" \
	":3,'ready':2},'min':0,'max':10,'paused':false,'pausing':{'scaleIn':false,'scaleOut':false},"                  \
	"'ready':'True','active':'True','fallback':'False','triggersTypes':'redis','hpa':{'name':'keda-hpa-web','"     \
	"desired':4},'rule':'active','reason':'active: the HPA scales'}"
#define API                                                                                                            \
	"{'kind':'ScaledObject','namespace':'shop','name':'api','target':{'kind':'Rollout','name':'a','replicas':"     \
	"null},'min':1,'max':2,'paused':false,'pausing':{'scaleIn':true},'ready':null,'hpa':null,'reason':null}"
#define FROZEN                                                                                                         \
	"{'kind':'ScaledObject','namespace':'bank','name':'job','target':{},'paused':true,'reason':'paused\\nat "      \
	"\\u001b[1m3'}"

#define ORDERS                                                                                                         \
	"{'kind':'ScaledJob','namespace':'shop','name':'orders','min':0,'max':10,'paused':false,'ready':'True','"      \
	"active':'True','triggersTypes':'postgresql','strategy':'default',"                                            \
	"'calculation':'max','jobs':{'running':7,'complete':20,'failed':1,'known':true,'trouble':null},'rule':'"       \
	"create','reason':'creates 3 Jobs'}"
#define MAILS                                                                                                          \
	"{'kind':'ScaledJob','namespace':'shop','name':'mails','min':1,'max':2,'paused':true,'ready':null,'active':"   \
	"null,'triggersTypes':null,'strategy':'eager','calculation':'max','jobs':null,'rule':null,'reason':'paused'}"

static char *render(const char *quoted, size_t columns, const struct get_view *view)
{
	MEM_AUTO char *text = mem_dup(quoted);
	struct asking_screen screen = { columns, 24 };
	struct buf out = BUF_INIT(100000);
	json_t *json;

	for (char *c = text; *c; c++)
		if (*c == '\'')
			*c = '"';
	json = json_parse(text, strlen(text), NULL);
	assert_non_null(json);
	get_render(json, &screen, view, &out);
	json_decref(json);
	return buf_take(&out);
}

static void rendered_of(const char *kind, const char *quoted, size_t columns, bool wide, const char *expected)
{
	const struct get_view view = { .kind = kind, .wide = wide };
	MEM_AUTO char *text = render(quoted, columns, &view);

	assert_string_equal(text, expected);
}

static void rendered(const char *quoted, size_t columns, bool wide, const char *expected)
{
	rendered_of(NULL, quoted, columns, wide, expected);
}

static void the_table(void **state)
{
	(void)state;
	rendered("{'synced':true,'items':[" FROZEN "," API "," WEB "]}", 0, false,
		"NAMESPACE  NAME  TARGET          MIN  MAX  CURRENT  DESIRED  READY  ACTIVE  PAUSED   REASON\n"
		"bank       job   /               -    -    -        -        -      -       True     paused at  [1m3\n"
		"shop       api   Rollout/a       1    2    -        -        -      -       ScaleIn\n"
		"shop       web   Deployment/web  0    10   3        4        True   True    False    active: the HPA "
		"scales\n");
	rendered("{'synced':true,'items':[" WEB "]}", 90, false,
		"NAMESPACE  NAME  TARGET          MIN  MAX  CURRENT  DESIRED  READY  ACTIVE  PAUSED  REASON\n"
		"shop       web   Deployment/web  0    10   3        4        True   True    False   "
		"activ\xE2\x80\xA6\n");
	rendered("{'synced':true,'items':[" WEB "]}", 0, true,
		"NAMESPACE  NAME  TARGET          MIN  MAX  CURRENT  DESIRED  READY  ACTIVE  PAUSED  FALLBACK  "
		"TRIGGERS  HPA           RULE    REASON\n"
		"shop       web   Deployment/web  0    10   3        4        True   True    False   False     redis   "
		"  keda-hpa-web  active  active: the HPA scales\n");
}

#define JOBS_TABLE                                                                                                     \
	"NAMESPACE  NAME    MIN  MAX  RUNNING  READY  ACTIVE  PAUSED  REASON\n"                                        \
	"shop       mails   1    2    -        -      -       True    paused\n"                                        \
	"shop       orders  0    10   7        True   True    False   creates 3 Jobs\n"

static void a_table_for_each_kind(void **state)
{
	(void)state;
	rendered("{'synced':true,'scaledJobs':{'synced':true,'trouble':null},'items':[" MAILS "," ORDERS "]}", 0, false,
		JOBS_TABLE);
	rendered("{'synced':true,'items':[" MAILS "," ORDERS "," WEB "]}", 0, false,
		"NAMESPACE  NAME  TARGET          MIN  MAX  CURRENT  DESIRED  READY  ACTIVE  PAUSED  REASON\n"
		"shop       web   Deployment/web  0    10   3        4        True   True    False   active: the HPA "
		"scales\n"
		"\n" JOBS_TABLE);
	rendered("{'synced':true,'items':[" ORDERS "]}", 0, true,
		"NAMESPACE  NAME    MIN  MAX  RUNNING  READY  ACTIVE  PAUSED  STRATEGY  COMPLETE  FAILED  TRIGGERS    "
		"RULE    REASON\n"
		"shop       orders  0    10   7        True   True    False   default   20        1       postgresql  "
		"create  creates 3 Jobs\n");
	/* What an answer has beside what was asked for is not shown. */
	rendered_of("scaledjob", "{'synced':true,'items':[" MAILS "," ORDERS "," WEB "]}", 0, false, JOBS_TABLE);
	rendered_of("scaledobject", "{'synced':true,'items':[" MAILS "]}", 0, false, "No ScaledObjects found.\n");
}

static void nothing_to_list(void **state)
{
	(void)state;
	rendered("{'synced':true,'items':[]}", 0, false, "No ScaledObjects or ScaledJobs found.\n");
	rendered("{'synced':false}", 0, false,
		"(kscaled has not read all objects yet)\nNo ScaledObjects or ScaledJobs found.\n");
	rendered("{'items':'x'}", 0, false,
		"(kscaled has not read all objects yet)\nNo ScaledObjects or ScaledJobs found.\n");
	rendered("{'synced':true,'scaledJobs':{'synced':false,'trouble':null}}", 0, false,
		"(kscaled has not read all ScaledJobs yet)\nNo ScaledObjects or ScaledJobs found.\n");
	rendered_of("scaledjob",
		"{'synced':false,'scaledJobs':{'synced':false,'trouble':'no such\\u001b[1mkind'},'items':[]}", 0, false,
		"(kscaled cannot read ScaledJobs: no such [1mkind)\nNo ScaledJobs found.\n");
	rendered_of("scaledobject", "{'synced':true,'scaledJobs':{'synced':false,'trouble':'no such kind'},'items':[]}",
		0, false, "No ScaledObjects found.\n");
}

static void kinds_by_name(void **state)
{
	static const struct {
		const char *word, *kind;
	} cases[] = {
		{ "so", "scaledobject" },
		{ "scaledobject", "scaledobject" },
		{ "scaledobjects", "scaledobject" },
		{ "sj", "scaledjob" },
		{ "scaledjob", "scaledjob" },
		{ "scaledjobs", "scaledjob" },
		{ "", NULL },
		{ "s", NULL },
		{ "sjs", NULL },
		{ "ScaledJob", NULL },
		{ "job", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		const char *kind = asking_kind(cases[i].word);

		if (!kind || !cases[i].kind ? kind != cases[i].kind : strcmp(kind, cases[i].kind) != 0)
			fail_msg("%s is %s", cases[i].word, kind ? kind : "none");
	}
}

/* Nobody listens on this port of a loopback address of its own. */
#define NOBODY "127.255.255.254:9"

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
		{ { "get", "--status-address", "nonsense" }, 2 },
		{ { "get", "sj", "so" }, 2 },
		{ { "get", "sj" }, 2 },
		{ { "get", "-n", "shop", "sj" }, 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char copies[4][32], *argv[5] = { NULL };
		int argc = 0;

		for (; argc < 4 && cases[i].arguments[argc]; argc++) {
			snprintf(copies[argc], sizeof(copies[argc]), "%s", cases[i].arguments[argc]);
			argv[argc] = copies[argc];
		}
		assert_int_equal(cli_get(argc, argv, NOBODY), cases[i].status);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table),
		cmocka_unit_test(a_table_for_each_kind),
		cmocka_unit_test(nothing_to_list),
		cmocka_unit_test(kinds_by_name),
		cmocka_unit_test(usage),
	};

	return cmocka_run_group_tests_name("cli/get", tests, NULL, NULL);
}
