/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/insight/insighttable.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../explain/explained.h"
#include "base/mem.h"

/* Columns and the cells of the one object of this kind; the caller owns it. */
static json_t *table_of(enum scaled_kind kind)
{
	struct buf out = BUF_INIT(65536);
	struct jsonout j = JSONOUT_INIT(&out);
	struct object *o = store_find(NULL, kind, "shop", kind == SCALED_JOB ? "drain" : "web");
	json_t *table;

	jsonout_object(&j, NULL);
	insighttable_columns(&j, kind);
	insighttable_cells(&j, &room.cache->cache, o);
	jsonout_end(&j);
	table = json_loadb(out.data, out.len, 0, NULL);
	assert_non_null(table);
	assert_int_equal(json_array_size(at(table, "cells")), json_array_size(at(table, "columnDefinitions")));
	buf_done(&out);
	return table;
}

/* The cell of a column, by its name. */
static const json_t *cell(const json_t *table, const char *name)
{
	const json_t *column;
	size_t i;

	json_array_foreach(at(table, "columnDefinitions"), i, column)
	{
		if (strcmp(json_string_value(json_object_get(column, "name")), name) == 0)
			return json_array_get(at(table, "cells"), i);
	}
	fail_msg("there is no column %s", name);
	return NULL;
}

static void expect_cell(const json_t *table, const char *name, const char *text)
{
	const char *found = json_string_value(cell(table, name));

	if (!found || strcmp(found, text) != 0)
		fail_msg("%s is %s, not %s", name, found ? found : "no text", text);
}

static void expect_number(const json_t *table, const char *name, int number)
{
	assert_true(json_is_integer(cell(table, name)));
	assert_int_equal(json_integer_value(cell(table, name)), number);
}

static void columns_have_kubectls_fields(void **state)
{
	json_t *table = table_of(SCALED_OBJECT);
	const json_t *column;
	size_t i, wide = 0;

	(void)state;
	expect_text(table, "columnDefinitions.0.name", "Name");
	expect_text(table, "columnDefinitions.0.format", "name");
	json_array_foreach(at(table, "columnDefinitions"), i, column)
	{
		const char *type = json_string_value(json_object_get(column, "type"));

		assert_true(!strcmp(type, "string") || !strcmp(type, "integer"));
		assert_true(strlen(json_string_value(json_object_get(column, "description"))) > 5);
		assert_true(json_is_integer(json_object_get(column, "priority")));
		wide += json_integer_value(json_object_get(column, "priority")) == 1;
	}
	assert_int_equal(wide, 4);
	json_decref(table);
}

static void cells_of_a_scaledobject(void **state)
{
	struct workload workload = { .replicas = 3 };
	char hpa_name[] = "keda-hpa-web", text[] = "active: the HPA scales";
	struct hpa hpa = { .meta.name = hpa_name, .desired_replicas = 4 };
	struct journal_object journal = { .decided = true, .text = text, .decision = { .rule = "active" } };
	struct scaledobject *so = given(
		"{'metadata':{'namespace':'shop','name':'web'},'spec':{'scaleTargetRef':{"
		"'name':'api','kind':'StatefulSet'},'minReplicaCount':2,'maxReplicaCount':9,"
		"'triggers':[]},'status':{'triggersTypes':'redis','conditions':[" CONDITION("Ready", "True",
			"ScaledObjectReady", "fine") "," CONDITION("Fallback", "False", "x", "y") "]}}");
	json_t *table;

	(void)state;
	room.cache->workload = &workload;
	room.cache->hpa = &hpa;
	room.cache->journal = &journal;
	room.cache->cache.leadership.leading = true;
	table = table_of(SCALED_OBJECT);
	expect_cell(table, "Name", "web");
	expect_cell(table, "Target", "StatefulSet/api");
	expect_number(table, "Min", 2);
	expect_number(table, "Max", 9);
	expect_number(table, "Current", 3);
	expect_number(table, "Desired", 4);
	expect_cell(table, "Ready", "True");
	assert_true(json_is_null(cell(table, "Active")));
	expect_cell(table, "Paused", "False");
	expect_cell(table, "Fallback", "False");
	expect_cell(table, "Triggers", "redis");
	expect_cell(table, "HPA", "keda-hpa-web");
	expect_cell(table, "Rule", "active");
	expect_cell(table, "Reason", "active: the HPA scales");
	json_decref(table);
	scaledobject_free(so);
}

static void unknown_cells_are_null(void **state)
{
	static const char *const unknown[] = { "Current", "Desired", "Ready", "Active", "Fallback", "HPA", "Rule",
		"Reason" };
	json_t *table = table_of(SCALED_OBJECT);

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(unknown); i++)
		assert_true(json_is_null(cell(table, unknown[i])));
	json_decref(table);
}

static void pauses(void **state)
{
	static const struct {
		const char *annotations, *word;
	} cases[] = {
		{ "'autoscaling.keda.sh/paused':'true'", "True" },
		{ "'autoscaling.keda.sh/paused-replicas':'3'", "True" },
		{ "'autoscaling.keda.sh/paused-scale-in':'true'", "ScaleIn" },
		{ "'autoscaling.keda.sh/paused-scale-out':'true'", "ScaleOut" },
		{ "'autoscaling.keda.sh/paused-scale-in':'true','autoscaling.keda.sh/paused-scale-out':'true'",
			"True" },
		{ "'autoscaling.keda.sh/paused':'false'", "False" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(cases); i++) {
		MEM_AUTO char *text = mem_printf("{'metadata':{'namespace':'shop','name':'web','annotations':{%s}},'"
						 "spec':{'scaleTargetRef':{'name':'web'},'triggers':[]}}",
			cases[i].annotations);
		struct scaledobject *so = given(text);
		json_t *table = table_of(SCALED_OBJECT);

		expect_cell(table, "Paused", cases[i].word);
		json_decref(table);
		scaledobject_free(so);
	}
}

static void cells_of_a_scaledjob(void **state)
{
	struct scaledjob *sj = given_job(
		"{'metadata':{'namespace':'shop','name':'drain'},'spec':{'minReplicaCount':1,'maxReplicaCount':7,"
		"'jobTargetRef':{'template':{'spec':{'containers':[{'name':'c','image':'i'}]}}},'triggers':[]}}");
	json_t *table = table_of(SCALED_JOB); /* on a standby */

	(void)state;
	assert_true(json_is_null(cell(table, "Running")));
	json_decref(table);
	room.cache->cache.leadership.leading = true;
	room.cache->tally = (struct jobs_tally){ .running = 2, .complete = 5, .failed = 1 };
	table = table_of(SCALED_JOB);
	expect_cell(table, "Name", "drain");
	expect_number(table, "Min", 1);
	expect_number(table, "Max", (int)(scaledjob_min(&sj->spec) + scaledjob_max(&sj->spec)));
	expect_number(table, "Running", 2);
	expect_number(table, "Complete", 5);
	expect_number(table, "Failed", 1);
	expect_cell(table, "Strategy", "default");
	expect_cell(table, "Paused", "False");
	json_decref(table);
	room.cache->jobs_unknown = true;
	table = table_of(SCALED_JOB);
	assert_true(json_is_null(cell(table, "Running")));
	json_decref(table);
	scaledjob_free(sj);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, room_set_up, room_tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(columns_have_kubectls_fields),
		TEST(cells_of_a_scaledobject),
		TEST(unknown_cells_are_null),
		TEST(pauses),
		TEST(cells_of_a_scaledjob),
	};

	return cmocka_run_group_tests_name("serve/insight/insighttable", tests, NULL, NULL);
}
