/* SPDX-License-Identifier: Apache-2.0 */
/* All faults of a trigger are reported together, and no others. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "pairs.h"

#include "base/mem.h"
#include "base/text.h"
#include "scalers/scalerbuild.h"

static struct {
	struct strmap metadata, auth;
	struct scaler_params params;
	const char *metric_type; /* of expect_message */
} t;

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	t.params = (struct scaler_params){ .index = 3, .metadata = &t.metadata, .auth = &t.auth };
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	strmap_done(&t.metadata);
	strmap_done(&t.auth);
	return 0;
}

/* ---- One sentence ---- */

static void expect_message(const char *type, const char *metadata, const char *auth, const char *message)
{
	struct scaler s;
	struct err err = { 0 };

	const char *metric_type = t.metric_type;

	teardown(NULL);
	setup(NULL);
	pairs_fill(&t.metadata, metadata);
	pairs_fill(&t.auth, auth);
	t.params.type = type;
	t.params.metric_type = metric_type;
	assert_int_equal(scaler_build(&t.params, &s, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(err.msg, message);
	assert_int_equal(scaler_build(&t.params, &s, NULL), -1);
}

static void all_faults_are_reported_together(void **state)
{
	(void)state;
	expect_message("redis", "adress=r:1|listLength=x|enableTLS=on|databaseIndex=0", NULL,
		"trigger 3 (redis): missing required parameter \"listName\" in [triggerMetadata]; unable to set param "
		"\"listLength\" value \"x\": must be a whole number; unable to set param \"enableTLS\" value \"on\": "
		"must "
		"be true or false; no addresses or hosts given. address should be a comma separated list of host:port "
		"or set "
		"the host/port values; no parameter is named \"adress\" (did you mean \"address\"?)");
	/* Faults in several tables, and finally of a rule of the type. */
	expect_message("redis", "listName=a|address=nowhere|listLength=x|enableTLS=on", NULL,
		"trigger 3 (redis): unable to set param \"listLength\" value \"x\": must be a whole number; unable to "
		"set "
		"param \"enableTLS\" value \"on\": must be true or false; address \"nowhere\": must be host:port");
	expect_message("cron", "start=0 0 * * *|timezone=Europe/Berlin|desiredReplica=1", NULL,
		"trigger 3 (cron): missing required parameter \"end\" in [triggerMetadata]; missing required parameter "
		"\"desiredReplicas\" in [triggerMetadata]; no parameter is named \"desiredReplica\" (did you mean "
		"\"desiredReplicas\"?)");
	/* A rule of the type names a parameter, too: the next fault follows, and metricType. */
	t.metric_type = "Utilization";
	expect_message("rabbitmq", "queueName=q|host=http://r|value=5", "username=u",
		"trigger 3 (rabbitmq): mode must be specified; username and password must be given together; "
		"'Utilization' metric type is unsupported for external metrics, allowed values are 'Value' or "
		"'AverageValue'");
	t.metric_type = NULL;
	expect_message("aws-cloudwatch", "awsRegion=eu-west-1|targetMetricValue=1|minMetricValue=0|metricStatPeriod=-1",
		NULL,
		"trigger 3 (aws-cloudwatch): namespace not given; metric name not given; dimension name not given; "
		"dimension value not given; metricStatPeriod can not be smaller than 1, however, -1 is provided; "
		"awsAccessKeyID not found: give awsAccessKeyID and awsSecretAccessKey by a TriggerAuthentication, or "
		"set podIdentity.provider aws in one");
	expect_message("azure-servicebus", "queueName=q|topicName=t|messageCount=0", NULL,
		"trigger 3 (azure-servicebus): parameter \"messageCount\" value \"0\" must be greater than 0; "
		"both topic and queue name metadata provided; no connection setting given: give connection by "
		"a TriggerAuthentication or connectionFromEnv, or set podIdentity.provider azure-workload in one");
	expect_message("rediss", "listName=a", NULL,
		"trigger 3: no scaler found for type: rediss (perhaps redis; kscaled-triggers(5) lists all "
		"types)");
}

/* Faults that fit, and the number of further ones. */
static void the_message_is_limited(void **state)
{
	MEM_AUTO char *text =
		mem_printf("listName=a|listLength=%0150dx|activationListLength=%0150dx|enableTLS=%0150d|adress=x", 1, 1,
			1);
	struct scaler s;
	struct err err = { 0 };

	(void)state;
	pairs_fill(&t.metadata, text);
	t.params.type = "redis";
	assert_int_equal(scaler_build(&t.params, &s, &err), -1);
	assert_non_null(strstr(err.msg, "\"listLength\""));
	assert_null(strstr(err.msg, "enableTLS"));
	assert_non_null(strstr(err.msg, "; and "));
	assert_string_equal(strstr(err.msg, " more"), " more");
}

/* ---- Whatever stands in a trigger ---- */

static unsigned seed;

static unsigned any(unsigned count)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % count;
}

static void fill(const struct scaler_type *type)
{
	static const char *const values[] = { "x!", "1", "0", "-7", "true", "h:1", "http://h:1/a", "a=b,c", "0 0 * * *",
		"UTC" };

	for (const struct param_table *const *table = type->tables; *table; table++) {
		for (size_t i = 0; i < (*table)->count; i++) {
			const struct param_row *row = &(*table)->rows[i];
			const char *names = row->names;
			char name[PARAM_NAME_SIZE];

			params_next_name(&names, name);
			if (any(2) == 0)
				continue;
			strmap_set(strchr(row->where, 'm') || any(8) == 0 ? &t.metadata : &t.auth, name,
				row->words && any(2) ? row->words[0] : values[any(sizeof(values) / sizeof(values[0]))]);
		}
	}
}

/* A build that stops at its first fault. */
static int build_alone(const struct scaler_type *type, struct err *err)
{
	struct scaler s = { .type = type };
	struct scaler_params params = t.params;
	struct scaler_build b = { .params = &params, .scaler = &s, .key = BUF_INIT(1 << 20) };
	int rc = 0;

	params.tables = type->tables;
	params.build = &b;
	b.data = mem_zalloc(type->data_size);
	if (type->absent)
		memcpy(b.data, type->absent, type->data_size);
	for (size_t i = 0; rc == 0 && type->tables[i]; i++)
		if (!type->tables[i]->login)
			rc = params_read_rows(&b, type->tables[i], 0, b.data, err);
	if (rc == 0)
		rc = type->build(&b, err);
	question_data_free(type, b.data);
	params_logins_done(&b);
	free(b.metric_name);
	free(b.source);
	buf_done(&b.key);
	scaler_done(&s);
	return rc;
}

/*
 * Errors that name no parameter: about the trigger's own fields, or from code that does not know
 * the parameter.
 */
static bool may_name_none(const char *message)
{
	static const char *const beginnings[] = { "'Utilization' metric type", "unknown metric type", "scaler cpu info",
		"scaler memory info", "this asks for kscaled's own", "podIdentity ", "the AWS ",
		"CA: ", "TLS: ", "the user name holds", "the host must be the name", "the path of the Unix socket",
		"the token URL", NULL };

	return text_begins_with_one_of(message, beginnings);
}

/* The first fault is that of a single build; none is reported twice or about a stand-in. */
static size_t check_faults(const struct scaler_type *type)
{
	struct param_faults faults;
	struct scaler s;
	struct err err = { 0 };
	size_t count;
	int built = build_alone(type, &err);

	if (scaler_try(&t.params, &s, &faults) == 0) {
		assert_int_not_equal(built, -1);
		scaler_done(&s);
		return 0;
	}
	count = faults.count;
	assert_in_range(count, 1, PARAM_FAULTS_MAX);
	if (built < 0)
		assert_string_equal(faults.list[0].err.msg, err.msg);
	for (size_t i = 0; i < count; i++) {
		const struct param_fault *f = &faults.list[i];

		assert_int_not_equal(f->err.kind, ERR_NONE);
		if (!*f->about && !may_name_none(f->err.msg))
			fail_msg("%s: about no parameter: %s", type->name, f->err.msg);
		if (strstr(f->err.msg, PARAM_STAND_IN))
			fail_msg("%s: %s", type->name, f->err.msg);
		for (size_t k = 0; k < i; k++)
			if (strcmp(faults.list[k].err.msg, f->err.msg) == 0 ||
				(*f->about && strcmp(faults.list[k].about, f->about) == 0))
				fail_msg("%s: twice: %s", type->name, f->err.msg);
	}
	param_faults_done(&faults);
	return count;
}

static void every_type_reports_further_faults(void **state)
{
	MEM_AUTO char *names = mem_dup(scaler_type_names());
	char *rest = names, *one;

	(void)state;
	while ((one = strsep(&rest, ",")) != NULL) {
		const struct scaler_type *type = scaler_type_find(one + strspn(one, " "));
		size_t most = 0;

		assert_non_null(type);
		for (seed = 1; seed < 200; seed++) {
			unsigned round = seed;
			size_t count;

			teardown(NULL);
			setup(NULL);
			t.params.type = type->name;
			t.params.metric_type = any(4) == 0 ? "Utilization" : NULL;
			t.params.formula_source = any(2);
			fill(type);
			count = check_faults(type);
			most = count > most ? count : most;
			seed = round;
		}
		if (most < 2)
			fail_msg("%s: never more than one fault is found", type->name);
	}
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(all_faults_are_reported_together),
		CASE(the_message_is_limited),
		CASE(every_type_reports_further_faults),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
