/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ask/explaintext.h"

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
#include "cli/plaintext.h"

#define NOW INT64_C(1767352805000) /* 2026-01-02T11:20:05Z */

#define HEAD                                                                                                           \
	"'leader':{'leading':true,'holder':'kscaled-7d9f_ab12','whyNot':null},'kind':'ScaledObject','namespace':'"     \
	"shop','name':'web',"                                                                                          \
	"'target':{'apiVersion':'apps/"                                                                                \
	"v1','kind':'Deployment','name':'web','state':'present','replicas':3,'ready':2,'trouble':null},'min':0,'max':" \
	"10,'idle':null,"                                                                                              \
	"'paused':false,'pausing':{'replicas':null,'scaleIn':false,'scaleOut':false},'forced':false,"                  \
	"'conditions':[{'type':'Ready','status':'True'},{'type':'Active','status':'True'},{'type':'Fallback','status'" \
	":'False'},{'type':'Paused','status':'False'},{'type':'HPAActive','status':'True'}]"
#define HPA                                                                                                            \
	",'hpa':{'name':'keda-hpa-web','min':1,'max':10,'current':3,'desired':4,'lastScaleTime':'2026-01-02T11:20:00." \
	"000Z','conditions':[{'type':'ScalingActive','status':'True'},"                                                \
	"{'type':'AbleToScale','status':'True','reason':'ReadyForNewScale'},{'type':'ScalingLimited','status':'True'," \
	"'reason':'TooManyReplicas','message':'more than the maximum'}]}"
#define TRIGGER                                                                                                        \
	"{'index':0,'type':'redis','name':null,'metric':'s0-redis-jobs','metricType':'AverageValue','target':'5','"    \
	"activation':0,'value':12.5,'active':true,'ageSeconds':0.4,'failures':0,"                                      \
	"'error':null,'fallingBack':false}"
#define DECISION                                                                                                       \
	",'decision':{'rule':'active','text':'active: the HPA scales (s0-redis-jobs "                                  \
	"12.5)','decidedAt':'2026-01-02T11:20:02.000Z'}"
#define CHANGE                                                                                                         \
	"{'at':'2026-01-02T11:20:00.000Z','from':1,'to':3,'who':'HorizontalPodAutoscaler "                             \
	"keda-hpa-web','why':'desired 3 for s0-redis-jobs, which is a long reason'}"
#define OLD_CHANGE "{'at':'2026-01-01T10:00:00.000Z','from':0,'to':1,'who':'kscaled','why':'s0-redis-jobs'}"
#define BEFORE     "{'at':'2026-01-02T11:19:00.000Z','rule':'activate','replicas':1,'text':'scaling from 0 to 1'}"

static char *render(const char *quoted, size_t columns, size_t rows)
{
	MEM_AUTO char *text = mem_dup(quoted);
	struct asking_screen screen = { columns, rows };
	struct buf out = BUF_INIT(1000000);
	int64_t now_unix_ms = NOW;
	json_t *json;

	for (char *c = text; *c; c++)
		if (*c == '\'')
			*c = '"';
	json = json_parse(text, strlen(text), NULL);
	assert_non_null(json);
	explaintext_render(json, &screen, now_unix_ms, &out);
	json_decref(json);
	return buf_take(&out);
}

static void whole_text(void **state)
{
	MEM_AUTO char *text = render("{" HEAD HPA DECISION ",'triggers':[" TRIGGER
				     "],'composite':null,'changes':[" CHANGE "," OLD_CHANGE "],'decisions':[" BEFORE
				     "]}",
		0, 0);

	(void)state;
	assert_string_equal(text,
		"Object    shop/web   Ready=True Active=True Fallback=False Paused=False HPAActive=True\n"
		"Target    Deployment web: 3 replicas, 2 ready; 0 to 10\n"
		"Decision  active: active: the HPA scales (s0-redis-jobs 12.5) (3.0 s ago)\n"
		"HPA       keda-hpa-web: 1 to 10; sees 3, wants 4; last scaled 11:20:00Z\n"
		"          ScalingLimited=True TooManyReplicas: more than the maximum\n"
		"Leader    kscaled-7d9f_ab12 (this process)\n"
		"\n"
		"TRIGGER  VALUE  TARGET          ABOVE  ACTIVE  AGE    FAILURES  METRIC\n"
		"0 redis  12.5   5 AverageValue  0      yes     0.4 s  0         s0-redis-jobs\n"
		"\n"
		"CHANGED          FROM  TO  WHO               WHY\n"
		"11:20:00Z        1     3   HPA keda-hpa-web  desired 3 for s0-redis-jobs, which is a long reason\n"
		"01-01 10:00:00Z  0     1   kscaled           s0-redis-jobs\n"
		"\n"
		"DECIDED    RULE      REPLICAS  TEXT\n"
		"11:19:00Z  activate  1         scaling from 0 to 1\n");
}

#define JOB_HEAD                                                                                                       \
	"'kind':'ScaledJob','namespace':'shop','name':'orders','min':1,'max':10,'paused':false,'ready':'True','"       \
	"active':'True','strategy':'accurate','calculation':'sum',"                                                    \
	"'leader':{'leading':true,'holder':'kscaled-7d9f_ab12','whyNot':null},'conditions':[{'type':'Ready','status':" \
	"'True'},{'type':'Active','status':'True'},{'type':'Paused','status':'False'}],"
#define JOBS "'jobs':{'running':7,'complete':20,'failed':1,'known':true,'trouble':null},"
#define JOB_DECISION                                                                                                   \
	"'decision':{'rule':'create','text':'creates 3 Jobs: 10 waiting in s0-redis-jobs, 4 Jobs "                     \
	"run','create':3,'active':true,'failing':false,'decidedAt':'2026-01-02T11:20:02.000Z'},"
#define JOB_TRIGGER                                                                                                    \
	"{'index':0,'type':'redis','name':null,'metric':'s0-redis-jobs','metricType':'AverageValue','target':'1','"    \
	"activation':0,'value':10,'active':true,'ageSeconds':0.4,'failures':0,'error':null}"
#define CREATION(at, from, to)                                                                                         \
	"{'at':'2026-01-02T11:" at ".000Z','from':" from ",'to':" to                                                   \
	",'who':'kscaled','why':'10 waiting in s0-redis-jobs'}"
#define JOB_BEFORE "{'at':'2026-01-02T11:19:00.000Z','rule':'enough','create':0,'text':'creates no Job'}"

static void whole_text_of_a_scaledjob(void **state)
{
	MEM_AUTO char *text = render("{" JOB_HEAD JOBS JOB_DECISION "'triggers':[" JOB_TRIGGER "," JOB_TRIGGER
				     "],'changes':[" CREATION("20:02", "4", "7") "," CREATION("18:00", "0",
					     "4") "],'decisions':[" JOB_BEFORE "]}",
		0, 0);

	(void)state;
	assert_string_equal(text,
		"Object    ScaledJob shop/orders   Ready=True Active=True Paused=False\n"
		"Jobs      7 running, 20 complete, 1 failed; 1 to 10; strategy accurate, sum of the triggers\n"
		"Decision  create: creates 3 Jobs: 10 waiting in s0-redis-jobs, 4 Jobs run (3.0 s ago)\n"
		"Leader    kscaled-7d9f_ab12 (this process)\n"
		"\n"
		"TRIGGER  VALUE  TARGET          ABOVE  ACTIVE  AGE    FAILURES  METRIC\n"
		"0 redis  10     1 AverageValue  0      yes     0.4 s  0         s0-redis-jobs\n"
		"0 redis  10     1 AverageValue  0      yes     0.4 s  0         s0-redis-jobs\n"
		"\n"
		"CREATED    JOBS  RUNNING  WHY\n"
		"11:20:02Z  3     7        10 waiting in s0-redis-jobs\n"
		"11:18:00Z  4     4        10 waiting in s0-redis-jobs\n"
		"\n"
		"DECIDED    RULE    CREATE  TEXT\n"
		"11:19:00Z  enough  0       creates no Job\n");
}

/* 80x24, as for a ScaledObject. */
static void one_screen_of_a_scaledjob(void **state)
{
#define TEN(x) x "," x "," x "," x "," x "," x "," x "," x "," x "," x
	MEM_AUTO char *text = render("{" JOB_HEAD JOBS JOB_DECISION "'triggers':[" JOB_TRIGGER "],'changes':[" TEN(
					     CREATION("20:02", "4", "7")) "],'decisions':[" TEN(JOB_BEFORE) "]}",
		80, 24);
	char *rest = text, *line;
	size_t rows = 0;

	(void)state;
	while ((line = strsep(&rest, "\n")) != NULL && rest) {
		rows++;
		if (plaintext_columns(line) > 80)
			fail_msg("longer than 80 columns: %s", line);
	}
	assert_in_range(rows, 18, 23);
}

static void expect_line(const char *text, const char *line)
{
	if (!strstr(text, line))
		fail_msg("no \"%s\" in:\n%s", line, text);
}

#define NIL_TRIGGER                                                                                                    \
	"{'index':0,'type':'redis','name':'a','metric':'s0-redis-jobs','metricType':'AverageValue','target':'5','"     \
	"activation':0,'value':null,'active':null,'ageSeconds':null,'failures':4,"                                     \
	"'error':'connection refused','fallingBack':true}"

static void null_trigger(void **state)
{
	MEM_AUTO char *text = render("{" HEAD HPA DECISION ",'triggers':[" NIL_TRIGGER "]}", 0, 0);

	(void)state;
	expect_line(text, "\n0 redis a  nil    5 AverageValue  0      fallback  -    4         s0-redis-jobs\n");
}

#define FAILED(since)                                                                                                  \
	"{"                                                                                                            \
	"'kind':'ScaledObject','namespace':'shop','name':'web','conditions':[{'type':'Ready','status':'False','"       \
	"reason':'ScaledObjectCheckFailed','message':'there is no Secret','lastTransitionTime':'" since "'}]" DECISION \
	"}"

/* A decision from before the failure is not current; one since then is. */
static void explains_a_failed_check(void **state)
{
	MEM_AUTO char *stopped = render(FAILED("2026-01-02T11:20:02.000Z"), 0, 0),
		      *goes_on = render(FAILED("2026-01-02T11:20:01.000Z"), 0, 0);

	(void)state;
	expect_line(stopped, "\nReady     there is no Secret\n");
	expect_line(stopped,
		"\nDecision  none while that is so; the last one, 3.0 s ago, was active: active: the HPA scales "
		"(s0-redis-jobs 12.5)\n");
	expect_line(goes_on, "\nDecision  active: active: the HPA scales (s0-redis-jobs 12.5) (3.0 s ago)\n");
}

static void explains_a_failed_check_of_a_scaledjob(void **state)
{
	MEM_AUTO char *text = render("{'kind':'ScaledJob','conditions':[{'type':'Ready','status':'False','reason':'"
				     "ScaledJobCheckFailed','message':'there is no "
				     "Secret','lastTransitionTime':'2026-01-02T11:20:02.000Z'}]," JOB_DECISION
				     "'triggers':[]}",
		0, 0);

	(void)state;
	expect_line(text, "\nReady     there is no Secret\n");
	expect_line(text, "\nDecision  none while that is so; the last one, 3.0 s ago, was create: creates 3 Jobs");
}

/* 80x24, one trigger, ten changes and decisions: nothing scrolls away or wraps. */
static void one_screen(void **state)
{
	MEM_AUTO char *text = render("{" HEAD HPA DECISION ",'triggers':[" TRIGGER "],'changes':[" CHANGE "," CHANGE
				     "," CHANGE "," CHANGE "," CHANGE "," CHANGE "," CHANGE "," CHANGE "," CHANGE
				     "," OLD_CHANGE "],'decisions':[" BEFORE "," BEFORE "," BEFORE "]}",
		80, 24);
	char *rest = text, *line;
	size_t rows = 0, changes = 0;

	(void)state;
	while ((line = strsep(&rest, "\n")) != NULL && rest) {
		rows++;
		changes += strstr(line, "HPA keda-hpa-web  desired") != NULL;
		if (plaintext_columns(line) > 80)
			fail_msg("longer than 80 columns: %s", line);
	}
	assert_in_range(rows, 20, 23);
	assert_in_range(changes, 8, 10);
}

static void many_rows_show_all(void **state)
{
	MEM_AUTO char *text = render("{" HEAD HPA DECISION ",'triggers':[" TRIGGER "],'changes':[" CHANGE
				     "],'decisions':[" BEFORE "," BEFORE "," BEFORE "]}",
		80, 24);

	(void)state;
	expect_line(text, "\nDECIDED    RULE");
}

static void errors_are_shown(void **state)
{
	static const struct {
		const char *json, *line;
	} cases[] = {
		{ "{'conditions':[{'type':'Ready','status':'False','reason':'x','message':'listName is missing'}]}",
			"\nReady     listName is missing\n" },
		{ "{'trouble':'trigger 0 (redis): listName is missing'}",
			"\nTriggers  trigger 0 (redis): listName is missing\n" },
		{ "{'target':{'kind':'Rollout','name':'a','state':'missing'},'min':1,'max':2,'idle':0}",
			"\nTarget    Rollout a: does not exist; 1 to 2, idle 0\n" },
		{ "{'target':{'kind':'Rollout','name':'a','state':'unread','trouble':'forbidden'},'min':1,'max':2}",
			"\nTarget    Rollout a: not read yet; 1 to 2; forbidden\n" },
		{ "{'leader':{'leading':false,'holder':'pod-1','whyNot':'pod-1 holds the Lease'}}",
			"\nLeader    pod-1; this process is on standby and knows no decisions: pod-1 holds the "
			"Lease\n" },
		{ "{'leader':{'leading':false,'holder':null}}",
			"\nLeader    nobody; this process is on standby and knows no decisions\n" },
		{ "{'reason':'Scaling is not performed'}", "\nDecision  Scaling is not performed\n" },
		{ "{'paused':true,'pausing':{'replicas':3,'scaleIn':true},'forced':true}",
			"\nBy order  paused at 3 replicas, scaling in is paused, active by force\n" },
		{ "{'hpa':null}", "\nHPA       none\n" },
		{ "{'triggers':[{'index':0,'type':'redis','name':'q','metric':'m','target':'5','metricType':'Value','"
		  "error':'connection refused','failures':7,'fallingBack':false,'noFallback':'no ready pods'}]}",
			"\n0 redis q  -      5 Value  -      -       -    7         m\n  error   m: connection "
			"refused; no fallback: no ready pods\n" },
		{ "{'triggers':[{'index':0,'type':'redis','metric':'m','target':'5','metricType':'Value','push':{'"
		  "state':'off','why':'turn it on'},'pause':'left alone','remark':'it was "
		  "cut','unknownKeys':'x','shortened':'timeout 1h is "
		  "long','ignored':'half of it'}]}",
			"\n0 redis  -      5 Value  -      -       -    -         m\n  pause   m: left alone\n  remark "
			" m: it was cut\n  push   "
			" m: off: turn it on\n  "
			"metadata m: unknown parameters: x\n  metadata m: timeout 1h is long\n  ignored m: "
			"half of it\n" },
		{ "{'triggers':[{'type':'redis','metric':'a','error':'refused','push':{'state':'off','why':'x'}},{'"
		  "type':'cron','metric':'b','push':{'state':'on','why':''}},"
		  "{'type':'redis','metric':'c','error':'refused','push':{'state':'off','why':'x'}},{'type':'redis','"
		  "metric':'d','error':'refused','noFallback':'no pods'}]}",
			"  error   a, c: refused\n  error   d: refused; no fallback: no pods\n  push    a, c: off: x\n "
			" push    b: on\n" },
		{ "{'triggers':[{'type':'r','metric':'a','error':'x'},{'type':'r','metric':'b','error':'x'},{'type':'r'"
		  ",'metric':'c','error':'x'},{'type':'r','metric':'d','error':'x'},{'type':'r','metric':'e','error':'"
		  "x'},"
		  "{'type':'r','metric':'f','error':'x'},{'type':'r','metric':'g','error':'x'}]}",
			"  error   a, b, c, d, e and 2 more: x\n" },
		{ "{'triggers':[{'index':0,'type':'redis','metric':'m','target':'5','metricType':'Value','push':{'"
		  "state':'unwatched','why':''}}]}",
			"\n0 redis  -      5 Value  -      -       -    -         m\n" },
		{ "{'triggers':[{'index':0,'type':'redis','metric':'m','target':'5','metricType':'Value','value':10,'"
		  "active':true,'fallingBack':true}]}",
			"\n0 redis  10     5 Value  -      fallback  -    -         m\n" },
		{ "{'triggers':[{'index':0,'type':'cpu','metric':'cpu','target':'60','metricType':'Utilization'}]}",
			"\n0 cpu    -      60 Utilization  -      -       -    -         cpu\n" },
		{ "{'triggers':[],'composite':{'metric':'composite-metric','metricType':'AverageValue','target':'2500m'"
		  ",'activation':1,'value':3,'active':false,'error':null}}",
			"\nformula  3      2500m AverageValue  1      no      -    -         composite-metric\n" },
		{ "{'hpa':{'name':'h','conditions':[{'type':'ScalingActive','status':'False','reason':'"
		  "FailedGetExternalMetric','message':'503'},{'type':'ScalingLimited','status':'False'}]}}",
			"\n          ScalingActive=False FailedGetExternalMetric: 503\n" },
		{ "{'also':'ScaledJob','namespace':'shop','name':'web'}",
			"\nAlso      a ScaledJob of this name exists, too: `kscaled explain sj shop/web`\n" },
		{ "{'kind':'ScaledJob','jobs':null,'min':0,'max':5,'strategy':'default'}",
			"\nJobs      known only to the leader; 0 to 5; strategy default\n" },
		{ "{'kind':'ScaledJob','jobs':{'known':false,'running':null,'trouble':'forbidden'},'min':0,'max':5,'"
		  "strategy':'default'}",
			"\nJobs      not read yet; 0 to 5; strategy default; forbidden\n" },
		{ "{'kind':'ScaledJob','paused':true}", "\nBy order  paused\n" },
		{ "{'reason':'\\u001b[31mred'}", "\nDecision   [31mred\n" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		MEM_AUTO char *text = render(cases[i].json, 0, 0);

		expect_line(text, cases[i].line);
	}
}

static void usage(void **state)
{
	static const struct {
		const char *arguments[5];
		int status;
	} cases[] = {
		{ { "explain", "--help" }, 0 }, { { "explain" }, 2 }, { { "explain", "web" }, 2 },
		{ { "explain", "shop/web", "more" }, 2 }, { { "explain", "pods", "shop/web" }, 2 },
		{ { "explain", "sj", "shop/web", "x" }, 2 }, { { "explain", "sj" }, 2 },
		{ { "explain", "sj", "shop/web" }, 2 }, { { "explain", "shop/web/x" }, 2 },
		{ { "explain", "shop/" }, 2 }, { { "explain", "/web" }, 2 }, { { "explain", "../x" }, 2 },
		{ { "explain", "-o", "yaml", "shop/web" }, 2 }, { { "explain", "-n", "bank", "shop/web" }, 2 },
		{ { "explain", "--nonsense" }, 2 }, { { "explain", "-n", "shop", "web" }, 2 },
		{ { "explain", "shop/web" }, 2 }, /* nothing listens */
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		char copies[5][32], *argv[6] = { NULL };
		int argc = 0;

		for (; argc < 5 && cases[i].arguments[argc]; argc++) {
			snprintf(copies[argc], sizeof(copies[argc]), "%s", cases[i].arguments[argc]);
			argv[argc] = copies[argc];
		}
		/* Nothing listens there. */
		setenv("KSCALED_INSIGHT_SOCKET", "/nonexistent/insight.sock", 1);
		setenv("KSCALED_KUBECONFIG", "/nonexistent/kubeconfig", 1);
		assert_int_equal(commandline_run(&cli_explain_line, argc, argv), cases[i].status);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(whole_text),
		cmocka_unit_test(whole_text_of_a_scaledjob),
		cmocka_unit_test(one_screen_of_a_scaledjob),
		cmocka_unit_test(null_trigger),
		cmocka_unit_test(explains_a_failed_check),
		cmocka_unit_test(explains_a_failed_check_of_a_scaledjob),
		cmocka_unit_test(one_screen),
		cmocka_unit_test(many_rows_show_all),
		cmocka_unit_test(errors_are_shown),
		cmocka_unit_test(usage),
	};

	return cmocka_run_group_tests_name("cli/ask/explaintext", tests, NULL, NULL);
}
