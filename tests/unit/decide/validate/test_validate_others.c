/* SPDX-License-Identifier: Apache-2.0 */
/* Conflicts of a ScaledObject with other objects. */
#include "decide/validate/validate.h"

#include "../../crd/given.h"
#include "base/buf.h"
#include "base/quantity.h"

#define SO(name, rest)  "{'metadata':{'name':'" name "','namespace':'shop'},'spec':{" rest "," GIVEN_TRIGGERS "}}"
#define TARGET(name)    "'scaleTargetRef':{'name':'" name "'}"
#define HPA_NAMED(name) "'advanced':{'horizontalPodAutoscalerConfig':{'name':'" name "'}}"

static void other_objects(void **state)
{
	static const struct {
		const char *a, *b, *reason, *message;
	} cases[] = {
		{ SO("a", TARGET("web")), SO("b", TARGET("api")), NULL, NULL },
		{ SO("a", TARGET("web")), SO("a", TARGET("web")), NULL, NULL },
		{ SO("a", TARGET("web")), SO("b", "'scaleTargetRef':{'name':'web','kind':'StatefulSet'}"), NULL, NULL },
		{ SO("a", TARGET("web")), SO("b", "'scaleTargetRef':{'name':'web','apiVersion':'example.com/v1'}"),
			NULL, NULL },
		{ SO("a", "'scaleTargetRef':{}"), SO("b", "'scaleTargetRef':{}"), NULL, NULL },
		{ SO("a", TARGET("web")), SO("b", TARGET("web")), "other-scaled-object",
			"spec.scaleTargetRef: the workload 'web' of type 'apps/v1.Deployment' is already managed by "
			"the ScaledObject 'b'" },
		{ SO("a", TARGET("web")),
			SO("b", "'scaleTargetRef':{'name':'web','apiVersion':'apps/v1','kind':'Deployment'}"),
			"other-scaled-object",
			"spec.scaleTargetRef: the workload 'web' of type 'apps/v1.Deployment' is already managed by "
			"the ScaledObject 'b'" },
		{ SO("a", "'scaleTargetRef':{'name':'x','apiVersion':'v1','kind':'ReplicationController'}"),
			SO("b", "'scaleTargetRef':{'name':'x','apiVersion':'v1','kind':'ReplicationController'}"),
			"other-scaled-object",
			"spec.scaleTargetRef: the workload 'x' of type '/v1.ReplicationController' is already managed "
			"by the ScaledObject 'b'" },
		{ SO("a", TARGET("web") "," HPA_NAMED("h")), SO("b", TARGET("api") "," HPA_NAMED("h")),
			"other-scaled-object-hpa",
			"spec.advanced.horizontalPodAutoscalerConfig.name: the HPA 'h' is already managed by the "
			"ScaledObject 'b'" },
		{ SO("a", TARGET("web") "," HPA_NAMED("keda-hpa-b")), SO("b", TARGET("api")), "other-scaled-object-hpa",
			"spec.advanced.horizontalPodAutoscalerConfig.name: the HPA 'keda-hpa-b' is already managed by "
			"the ScaledObject 'b'" },
		{ SO("a", TARGET("web")), SO("b", TARGET("api") "," HPA_NAMED("keda-hpa-a")), "other-scaled-object-hpa",
			"spec.advanced.horizontalPodAutoscalerConfig.name: the HPA 'keda-hpa-a' is already managed by "
			"the ScaledObject 'b'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scaledobject *a = given_scaledobject(cases[i].a), *b = given_scaledobject(cases[i].b);
		const char *reason = "unset";
		struct err err = { 0 };

		assert_int_equal(validate_beside(a, b, &reason, &err), cases[i].reason != NULL ? -1 : 0);
		assert_int_equal(validate_beside(a, b, NULL, NULL), cases[i].reason != NULL ? -1 : 0);
		if (cases[i].reason == NULL) {
			assert_null(reason);
		} else {
			assert_string_equal(reason, cases[i].reason);
			assert_string_equal(err.msg, cases[i].message);
		}
		scaledobject_free(a);
		scaledobject_free(b);
	}
}

/* ---- Facts ---- */

struct facts_case {
	const char *object, *hpas, *target, *limit_ranges; /* target "": it does not exist */
	const char *reason, *message;
};

static json_t *maybe(const char *text)
{
	return text != NULL && *text != '\0' ? given_json(text) : NULL;
}

/* Those that can be read; the caller owns them. */
static const struct hpa **read_hpas(const json_t *list, size_t *count)
{
	const struct hpa **hpas = mem_array(json_array_size(list) + 1, sizeof(*hpas));
	const json_t *object;
	size_t i;

	*count = 0;
	json_array_foreach(list, i, object)
	{
		hpas[*count] = hpa_decode(object, NULL);
		*count += hpas[*count] != NULL;
	}
	return hpas;
}

static void check_facts(const struct facts_case *c)
{
	struct scaledobject *so = given_scaledobject(c->object);
	size_t hpa_count;
	json_t *list = maybe(c->hpas), *target = maybe(c->target), *ranges = maybe(c->limit_ranges);
	const struct hpa **hpas = read_hpas(list, &hpa_count);
	const struct validate_facts facts = { .hpas = hpas,
		.hpa_count = hpa_count,
		.target = target,
		.target_missing = c->target != NULL && *c->target == '\0',
		.limit_ranges = ranges };
	const char *reason = "unset";
	struct err err = { 0 };
	int got = validate_surroundings(so, &facts, &reason, &err);

	if (got != (c->reason != NULL ? -1 : 0))
		fail_msg("%s: %s", c->object, got == 0 ? "not refused" : err.msg);
	assert_int_equal(validate_surroundings(so, &facts, NULL, NULL), got);
	if (c->reason == NULL) {
		assert_null(reason);
	} else {
		assert_int_equal(err.kind, ERR_INVALID);
		assert_string_equal(err.msg, c->message);
		assert_string_equal(reason, c->reason);
	}
	for (size_t i = 0; i < hpa_count; i++)
		hpa_free((struct hpa *)(uintptr_t)hpas[i]);
	free(hpas);
	json_decref(list);
	json_decref(target);
	json_decref(ranges);
	scaledobject_free(so);
}

#define HPA(name, meta, target) "{'metadata':{'name':'" name "'" meta "},'spec':{'scaleTargetRef':{" target "}}}"
#define TO_WEB                  "'apiVersion':'apps/v1','kind':'Deployment','name':'web'"
#define TRANSFER(value, rest)                                                                                          \
	"{'metadata':{'name':'a','annotations':{'scaledobject.keda.sh/transfer-hpa-ownership':'" value                 \
	"'}},'spec':{" TARGET("web") "," GIVEN_TRIGGERS rest "}}"

static void foreign_hpas(void **state)
{
	static const char other[] = "spec.scaleTargetRef: the workload 'web' of type 'apps/v1.Deployment' is already "
				    "managed by the hpa 'old': delete that, or let it be taken over by annotation "
				    "scaledobject.keda.sh/transfer-hpa-ownership: \"true\" and "
				    "spec.advanced.horizontalPodAutoscalerConfig.name";
	static const char unnamed[] =
		"spec.advanced.horizontalPodAutoscalerConfig.name: the existing hpa 'old' for workload 'web' of type "
		"'apps/v1.Deployment' must be specified by name in advanced settings to enable ownership transfer";
	static const struct facts_case cases[] = {
		{ .object = SO("a", TARGET("web")) },
		{ .object = SO("a", TARGET("web")), .hpas = "[]" },
		{ .object = SO("a", TARGET("web")), .hpas = "[3,{},{'spec':7}]" },
		{ .object = SO("a", TARGET("web")),
			.hpas = "[" HPA("old", "", "'apiVersion':'apps/v1','kind':'Deployment','name':'api'") "]" },
		{ .object = SO("a", TARGET("web")),
			.hpas = "[" HPA("old", "", "'apiVersion':'apps/v1','kind':'StatefulSet','name':'web'") "]" },
		{ .object = SO("a", TARGET("web")),
			.hpas = "[" HPA("old",
				",'ownerReferences':[{'kind':'ScaledObject','name':'b'},{'kind':'ScaledObject','name':'"
				"a'}]",
				TO_WEB) "]" },
		{ .object = SO("a", TARGET("web")),
			.hpas = "[" HPA("old", ",'annotations':{'validations.keda.sh/hpa-ownership':'false'}",
				TO_WEB) "]" },
		{ .object = SO("a", TARGET("web")),
			.hpas = "[" HPA("x", "", "'name':'api'") "," HPA("old", "", TO_WEB) "]",
			.reason = "other-hpa",
			.message = other },
		{ .object = SO("a", TARGET("web")),
			.hpas = "[" HPA("old", "", "'kind':'Deployment','name':'web'") "]",
			.reason = "other-hpa",
			.message = other },
		{ .object = SO("a", TARGET("web")),
			.hpas = "[" HPA("old", ",'annotations':{'validations.keda.sh/hpa-ownership':'true'}",
				TO_WEB) "]",
			.reason = "other-hpa",
			.message = other },
		{ .object = SO("a", TARGET("web")),
			.hpas = "[" HPA("old",
				",'ownerReferences':[{'kind':'ScaledObject','name':'b'},{'kind':'Other','name':'a'}]",
				TO_WEB) "]",
			.reason = "other-hpa",
			.message = other },
		{ .object = TRANSFER("true", "," HPA_NAMED("old")), .hpas = "[" HPA("old", "", TO_WEB) "]" },
		{ .object = TRANSFER("true", ""),
			.hpas = "[" HPA("old", "", TO_WEB) "]",
			.reason = "transfer-ownership-missing-hpa-name",
			.message = unnamed },
		{ .object = TRANSFER("true", "," HPA_NAMED("new")),
			.hpas = "[" HPA("old", "", TO_WEB) "]",
			.reason = "transfer-ownership-missing-hpa-name",
			.message = unnamed },
		{ .object = TRANSFER("false", "," HPA_NAMED("old")),
			.hpas = "[" HPA("old", "", TO_WEB) "]",
			.reason = "other-hpa",
			.message = other },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_facts(&cases[i]);
}

#define CPU(spec, metadata)                                                                                            \
	"{'metadata':{'name':'a'},'spec':{" TARGET("web") spec ",'triggers':[{'type':'cpu','metadata':{" metadata      \
							       "}}]}}"
#define MIN1            ",'minReplicaCount':1"
#define POD(containers) "{'spec':{'template':{'spec':{'containers':[" containers "]}}}}"
#define RANGE(type, key, resource, amount)                                                                             \
	"[{'spec':{'limits':[{'type':'" type "','" key "':{'" resource "':'" amount "'}}]}}]"

#define WITH_INIT(more)                                                                                                \
	"{'spec':{'template':{'spec':{'initContainers':[{'name':'app'" more                                            \
	"}],'containers':[{'name':'web','resources':{'requests':{'cpu':'1'}}}]}}}}"

static void requests(void **state)
{
	static const char app[] = "spec.triggers[0]: the scaledobject has a cpu trigger but the container app doesn't "
				  "have the cpu request defined: without one its utilization cannot be computed; "
				  "set resources.requests.cpu of the container";
	static const char zero[] =
		"spec.minReplicaCount: scaledobject has only cpu/memory triggers AND minReplica is 0 (scale to zero "
		"doesn't work in this case): set it to 1 or more, or add another trigger";
	static const struct facts_case cases[] = {
		{ .object = CPU("", "") }, /* nothing is known */
		{ .object = CPU(MIN1, ""),
			.target = POD("{'name':'app','resources':{'requests':{'cpu':'100m'}}}"),
			.limit_ranges = "[]" },
		{ .object = CPU(MIN1, ""),
			.target = POD("{'name':'app','resources':{'limits':{'cpu':'1'}}}"),
			.limit_ranges = "[]" },
		{ .object = CPU(MIN1, ""), .target = POD("{'name':'app'}") }, /* the LimitRanges are not known */
		{ .object = CPU(MIN1, ""),
			.target = POD("{'name':'app'}"),
			.limit_ranges = "[]",
			.reason = "missing-requests",
			.message = app },
		{ .object = CPU(MIN1, ""),
			.target = POD("{'name':'app','resources':{'requests':{'cpu':'0','memory':'1Gi'}}}"),
			.limit_ranges = "[]",
			.reason = "missing-requests",
			.message = app },
		{ .object = CPU(MIN1, ""),
			.target = POD("{'name':'side','resources':{'requests':{'cpu':'1'}}},{'name':'app'}"),
			.limit_ranges = "[]",
			.reason = "missing-requests",
			.message = app },
		{ .object = CPU(MIN1, "'containerName':'side'"),
			.target = POD("{'name':'side','resources':{'requests':{'cpu':'1'}}},{'name':'app'}"),
			.limit_ranges = "[]" },
		{ .object = CPU(MIN1, "'containerName':'app'"),
			.target = POD("{'name':'side','resources':{'requests':{'cpu':'1'}}},{'name':'app'}"),
			.limit_ranges = "[]",
			.reason = "missing-requests",
			.message = app },
		{ .object = CPU(MIN1, ""),
			.target = "{'spec':{'template':{'spec':{'resources':{'requests':{'cpu':'2'}},'containers':[{'"
				  "name':'app'}]}}}}",
			.limit_ranges = "[]" },
		/* A sidecar runs, too; another initContainer does not. */
		{ .object = CPU(MIN1, ""),
			.target = WITH_INIT(",'restartPolicy':'Always'"),
			.limit_ranges = "[]",
			.reason = "missing-requests",
			.message = app },
		{ .object = CPU(MIN1, ""), .target = WITH_INIT(""), .limit_ranges = "[]" },
		{ .object = CPU(MIN1, "'containerName':'app'"),
			.target = WITH_INIT(",'restartPolicy':'Always'"),
			.limit_ranges = "[]",
			.reason = "missing-requests",
			.message = app },
		{ .object = "{'metadata':{'name':'a'},'spec':{" TARGET("web") MIN1
			",'triggers':[{'type':'cpu','metricType':'AverageValue','metadata':{'value':'100m'}}]}}",
			.target = POD("{'name':'app'}"),
			.limit_ranges = "[]" },
		{ .object = CPU(MIN1, ""),
			.target = POD("{'name':'app'}"),
			.limit_ranges = RANGE("Container", "default", "cpu", "1") },
		{ .object = CPU(MIN1, ""),
			.target = POD("{'name':'app'}"),
			.limit_ranges = RANGE("Container", "defaultRequest", "cpu", "1") },
		{ .object = CPU(MIN1, ""),
			.target = POD("{'name':'app'}"),
			.limit_ranges = RANGE("Container", "default", "cpu", "0"),
			.reason = "missing-requests",
			.message = app },
		{ .object = CPU(MIN1, ""),
			.target = POD("{'name':'app'}"),
			.limit_ranges = RANGE("Container", "default", "memory", "1Gi"),
			.reason = "missing-requests",
			.message = app },
		{ .object = CPU(MIN1, ""),
			.target = POD("{'name':'app'}"),
			.limit_ranges = RANGE("Pod", "default", "cpu", "1"),
			.reason = "missing-requests",
			.message = app },
		{ .object = CPU(MIN1, ""),
			.target = "",
			.limit_ranges = "[]",
			.reason = "missing-target",
			.message = "spec.scaleTargetRef: the Deployment 'web' does not exist: with a trigger cpu or "
				   "memory it must, so that its requests can be checked" },
		{ .object = CPU("", ""),
			.target = POD("{'name':'app','resources':{'requests':{'cpu':'1'}}}"),
			.limit_ranges = "[]",
			.reason = "scale-to-zero-requirements-not-met",
			.message = zero },
		{ .object = CPU(",'minReplicaCount':0", ""),
			.target = POD(""),
			.reason = "scale-to-zero-requirements-not-met",
			.message = zero },
		{ .object = "{'metadata':{'name':'a'},'spec':{" TARGET(
			  "web") ",'triggers':[{'type':'cpu'},{'type':'redis'}]}}",
			.target = POD("") },
		{ .object = SO("a", TARGET("web")), .target = "" }, /* no such trigger */
		{ .object = "{'metadata':{'name':'a'},'spec':{'scaleTargetRef':{'name':'x','kind':'Rollout','"
			    "apiVersion':'argoproj.io/v1alpha1'},'triggers':[{'type':'cpu'}]}}",
			.target = "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++)
		check_facts(&cases[i]);
}

static void needed_facts(void **state)
{
	static const struct {
		const char *object;
		bool needed;
	} cases[] = {
		{ CPU("", ""), true },
		{ "{'metadata':{'name':'a'},'spec':{'scaleTargetRef':{'name':'x','kind':'StatefulSet'},'triggers':[{'"
		  "type':'redis'},{'type':'memory'}]}}",
			true },
		{ SO("a", TARGET("web")), false },
		{ "{'metadata':{'name':'a'},'spec':{'scaleTargetRef':{'name':'x','kind':'Rollout','apiVersion':'"
		  "argoproj.io/v1alpha1'},'triggers':[{'type':'cpu'}]}}",
			false },
		{ "{'metadata':{'name':'a'},'spec':{'scaleTargetRef':{'name':'x','apiVersion':'a/b/"
		  "c'},'triggers':[{'type':'cpu'}]}}",
			false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scaledobject *so = given_scaledobject(cases[i].object);

		assert_int_equal(validate_needs_target(so), cases[i].needed);
		scaledobject_free(so);
	}
}

/* Counted: amounts of resources that are read. */
static unsigned amounts;

int __real_quantity_parse(const char *text, struct quantity *out, struct err *err);
int __wrap_quantity_parse(const char *text, struct quantity *out, struct err *err);
int __wrap_quantity_parse(const char *text, struct quantity *out, struct err *err)
{
	amounts++;
	return __real_quantity_parse(text, out, err);
}

static void note(void *arg, const struct err *err)
{
	buf_printf(arg, "%s\n", err->msg);
}

/* A container that no Pod has is never measured. */
static void containers_that_there_are_not(void **state)
{
#define NAMES(name)                                                                                                    \
	"{'metadata':{'name':'a','namespace':'shop'},'spec':{" TARGET("web") MIN1                                      \
		",'triggers':[{'type':'redis','metadata':{'containerName':'x'}},{'type':'cpu','metadata':{'"           \
		"containerName':'" name "'}}]}}"
#define NONE(name) "spec.triggers[1].metadata.containerName: Deployment shop/web has no container \"" name "\"\n"
	static const struct {
		const char *object, *target, *faults;
	} cases[] = {
		{ NAMES("web"), WITH_INIT(""), "" },
		{ NAMES("app"), WITH_INIT(",'restartPolicy':'Always'"), "" },
		{ NAMES("app"), WITH_INIT(""), NONE("app") },
		{ NAMES("other"), WITH_INIT(""), NONE("other") },
		{ NAMES("other"), POD(""), NONE("other") },
		{ NAMES(""), WITH_INIT(""), "" },
		{ NAMES("other"), "{'spec':{}}", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scaledobject *so = given_scaledobject(cases[i].object);
		json_t *target = given_json(cases[i].target);
		struct buf got = BUF_INIT(1 << 12);

		validate_containers(so, target, note, &got);
		assert_string_equal(buf_text(&got), cases[i].faults);
		buf_done(&got);
		json_decref(target);
		scaledobject_free(so);
	}
}

/*
 * A thousand triggers, a target with thousands of containers, hundreds of limits: they are read
 * once for each resource, not for each trigger.
 */
static void many_triggers_of_many_containers(void **state)
{
	enum { TRIGGERS = 300, CONTAINERS = 400, LIMITS = 100 };
	json_t *target = given_json(POD("")), *ranges = given_json("[{'spec':{'limits':[]}}]");
	json_t *containers =
		json_object_get(json_object_get(json_object_get(json_object_get(target, "spec"), "template"), "spec"),
			"containers");
	json_t *limits = json_object_get(json_object_get(json_array_get(ranges, 0), "spec"), "limits");
	struct buf text = BUF_INIT(1 << 20);
	struct scaledobject *so;
	const char *reason;
	struct err err = { 0 };

	(void)state;
	for (int i = 0; i < CONTAINERS; i++)
		json_array_append_new(containers,
			json_pack("{s:o,s:{s:{s:s}}}", "name", json_sprintf("c%d", i), "resources", "requests",
				i == 7 ? "memory" : "cpu", "1"));
	for (int i = 0; i < LIMITS; i++)
		json_array_append_new(limits, json_pack("{s:s,s:{s:s}}", "type", "Container", "default", "cpu", "0"));
	buf_puts(&text, "{'metadata':{'name':'a'},'spec':{" TARGET("web") ",'minReplicaCount':1,'triggers':[");
	for (int i = 0; i < TRIGGERS; i++)
		buf_printf(&text, "%s{'type':'cpu','metadata':{'value':'1','containerName':'c%d'}}", i > 0 ? "," : "",
			i == TRIGGERS - 1 ? 7 : i + 8);
	buf_puts(&text, "]}}");
	so = given_scaledobject(buf_text(&text));
	amounts = 0;
	assert_int_equal(validate_surroundings(so, &(struct validate_facts){ .target = target, .limit_ranges = ranges },
				 &reason, &err),
		-1);
	assert_string_equal(reason, "missing-requests");
	assert_has(err.msg, "spec.triggers[299]: the scaledobject has a cpu trigger but the container c7 doesn't");
	assert_in_range(amounts, 1, 2 * (CONTAINERS + LIMITS) + 10);
	scaledobject_free(so);
	buf_done(&text);
	json_decref(target);
	json_decref(ranges);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(other_objects),
		cmocka_unit_test(foreign_hpas),
		cmocka_unit_test(requests),
		cmocka_unit_test(containers_that_there_are_not),
		cmocka_unit_test(needed_facts),
		cmocka_unit_test(many_triggers_of_many_containers),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
