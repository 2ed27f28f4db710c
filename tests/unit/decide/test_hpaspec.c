/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/hpaspec.h"

#include "../crd/given.h"
#include "base/text.h"

static const struct metric_spec two_metrics[] = {
	{ .name = "s0-redis-jobs", .target_type = METRIC_AVERAGE_VALUE, .target = { 5000, QUANTITY_DECIMAL_SI } },
	{ .name = "s2-redis-mail", .target_type = METRIC_VALUE, .target = { 2500, QUANTITY_DECIMAL_SI } },
};

#define OWNER                                                                                                          \
	"{'apiVersion':'keda.sh/"                                                                                      \
	"v1alpha1','kind':'ScaledObject','name':'web','uid':'u-1','controller':true,'blockOwnerDeletion':true}"
#define LABELS(name)                                                                                                   \
	"'app.kubernetes.io/name':'" name "','app.kubernetes.io/version':'1.2.3','app.kubernetes.io/"                  \
	"part-of':'web','app.kubernetes.io/managed-by':'kscaled',"                                                     \
	"'scaledobject.keda.sh/name':'web','kscaled.io/managed':'true'"
#define METRIC_A                                                                                                       \
	"{'type':'External','external':{'metric':{'name':'s0-redis-jobs','selector':{'matchLabels':{'scaledobject."    \
	"keda.sh/name':'web'}}},'target':{'type':'AverageValue','averageValue':'5'}}}"
#define METRIC_B                                                                                                       \
	"{'type':'External','external':{'metric':{'name':'s2-redis-mail','selector':{'matchLabels':{'scaledobject."    \
	"keda.sh/name':'web'}}},'target':{'type':'Value','value':'2500m'}}}"
#define TARGET "'scaleTargetRef':{'apiVersion':'apps/v1','kind':'Deployment','name':'web'}"
#define HPA(meta, spec)                                                                                                \
	"{'apiVersion':'autoscaling/"                                                                                  \
	"v2','kind':'HorizontalPodAutoscaler','metadata':{'name':'keda-hpa-web','namespace':'shop','ownerReferences':" \
	"[" OWNER "]" meta "},'spec':{" spec "}}"

static json_t *make(const struct scaledobject *so, size_t metric_count)
{
	struct err err = { 0 };
	json_t *made = hpaspec_make(so, two_metrics, metric_count, "1.2.3", &err);

	if (made == NULL)
		fail_msg("%s", err.msg);
	return made;
}

static void check_made(const char *object, size_t metric_count, const char *wanted_text)
{
	struct scaledobject *so = given_scaledobject(object);
	json_t *made = make(so, metric_count), *wanted = given_json(wanted_text);

	if (!json_equal(made, wanted))
		fail_msg("%s\n made   %s\n wanted %s", object, json_text(made), json_text(wanted));
	json_decref(made);
	json_decref(wanted);
	scaledobject_free(so);
}

static void test_golden(void **state)
{
	(void)state;
	check_made(GIVEN_SO("", GIVEN_TARGET "," GIVEN_TRIGGERS), 1,
		HPA(",'labels':{" LABELS("keda-hpa-web") "}",
			TARGET ",'minReplicas':1,'maxReplicas':100,'metrics':[" METRIC_A "]"));
	/* bounds; the order of the triggers; behavior unchanged; idle does not matter */
	check_made(GIVEN_SO("",
			   GIVEN_TARGET "," GIVEN_TRIGGERS
					",'minReplicaCount':2,'maxReplicaCount':7,'idleReplicaCount':0,"
					"'advanced':{'horizontalPodAutoscalerConfig':{'behavior':{'scaleDown':{'"
					"stabilizationWindowSeconds':60},'scaleUp':{'tolerance':0.05}}}}"),
		2,
		HPA(",'labels':{" LABELS("keda-hpa-web") "}",
			TARGET
			",'minReplicas':2,'maxReplicas':7,'metrics':[" METRIC_A "," METRIC_B "],"
			"'behavior':{'scaleDown':{'stabilizationWindowSeconds':60},'scaleUp':{'tolerance':'0.05'}}"));
	/* another target, and a written minimum of 0 */
	check_made(GIVEN_SO("",
			   "'scaleTargetRef':{'name':'db','kind':'Thing','apiVersion':'v1'},'minReplicaCount':"
			   "0," GIVEN_TRIGGERS),
		1,
		HPA(",'labels':{" LABELS("keda-hpa-web") "}",
			"'scaleTargetRef':{'apiVersion':'v1','kind':'Thing','name':'db'},'minReplicas':1,'maxReplicas':"
			"100,'metrics':[" METRIC_A "]"));
}

static void test_labels(void **state)
{
	(void)state;
	/*
	 * The user's labels come after KEDA's and may override them, but not the two that the
	 * machinery selects on; excluded ones stay away, by their exact text.
	 */
	check_made(GIVEN_SO(",'labels':{'team':'a','app.kubernetes.io/"
			    "part-of':'shop','secret':'x','spaced':'y','kscaled.io/managed':'no','scaledobject.keda.sh/"
			    "name':'other','scaledobject.keda.sh':'z'},"
			    "'annotations':{'scaledobject.keda.sh/hpa-excluded-labels':'secret, "
			    "spaced,kscaled.io/managed,scaledobject.keda.sh/name,tea'}",
			   GIVEN_TARGET "," GIVEN_TRIGGERS),
		1,
		HPA(",'labels':{'app.kubernetes.io/name':'keda-hpa-web','app.kubernetes.io/"
		    "version':'1.2.3','app.kubernetes.io/part-of':'shop','app.kubernetes.io/managed-by':'kscaled',"
		    "'team':'a','spaced':'y','scaledobject.keda.sh':'z','scaledobject.keda.sh/name':'web','kscaled.io/"
		    "managed':'true'},"
		    "'annotations':{'scaledobject.keda.sh/hpa-excluded-labels':'secret, "
		    "spaced,kscaled.io/managed,scaledobject.keda.sh/name,tea'}",
			TARGET ",'minReplicas':1,'maxReplicas':100,'metrics':[" METRIC_A "]"));
}

static void test_annotations(void **state)
{
	(void)state;
	check_made(GIVEN_SO(",'annotations':{'a':'b','kubectl.kubernetes.io/"
			    "last-applied-configuration':'{}','autoscaling.alpha.kubernetes.io/"
			    "behavior':'{}','autoscaling.keda.sh/paused':'false'}",
			   GIVEN_TARGET "," GIVEN_TRIGGERS),
		1,
		HPA(",'labels':{" LABELS(
			    "keda-hpa-web") "},'annotations':{'a':'b','autoscaling.keda.sh/paused':'false'}",
			TARGET ",'minReplicas':1,'maxReplicas':100,'metrics':[" METRIC_A "]"));
}

#define SIXTY "a23456789012345678901234567890123456789012345678901234567890"

static void check_name_label(const char *name, const char *label)
{
	char *text = mem_printf("{'metadata':{'name':'web','uid':'u-1'},'spec':{" GIVEN_TARGET "," GIVEN_TRIGGERS
				",'advanced':{'horizontalPodAutoscalerConfig':{'name':'%s'}}}}",
		name);
	struct scaledobject *so = given_scaledobject(text);
	json_t *made = make(so, 1), *metadata = json_object_get(made, "metadata");

	assert_string_equal(json_str_or_empty(metadata, "name"), name);
	assert_string_equal(json_str_or_empty(json_object_get(metadata, "labels"), "app.kubernetes.io/name"), label);
	json_decref(made);
	scaledobject_free(so);
	free(text);
}

static void test_name_label(void **state)
{
	(void)state;
	check_name_label("mine", "mine");
	check_name_label(SIXTY "123", SIXTY "123");
	check_name_label(SIXTY "1234", SIXTY "123");
	check_name_label(SIXTY "1-.4", SIXTY "1");
	check_name_label("x.", "x");
}

static void check_refused(const char *object, const struct metric_spec *metrics, size_t count, const char *message)
{
	struct scaledobject *so = given_scaledobject(object);
	struct err err = { 0 };

	assert_null(hpaspec_make(so, metrics, count, "1", &err));
	assert_int_equal(err.kind, ERR_INVALID);
	assert_string_equal(err.msg, message);
	scaledobject_free(so);
}

static void test_refused(void **state)
{
	static const struct metric_spec twice[] = {
		{ .name = "s0-x", .target_type = METRIC_VALUE, .target = { 1000, QUANTITY_DECIMAL_SI } },
		{ .name = "s1-y", .target_type = METRIC_VALUE, .target = { 1000, QUANTITY_DECIMAL_SI } },
		{ .name = "s0-x", .target_type = METRIC_VALUE, .target = { 1000, QUANTITY_DECIMAL_SI } }
	};
	static const struct metric_spec utilization = { .name = "s0-x",
		.target_type = METRIC_UTILIZATION,
		.target = { 1000, QUANTITY_DECIMAL_SI } };
	static const struct metric_spec zero = { .name = "s0-x",
		.target_type = METRIC_VALUE,
		.target = { 0, QUANTITY_DECIMAL_SI } };
	static const char plain[] = GIVEN_SO("", GIVEN_TARGET "," GIVEN_TRIGGERS);

	(void)state;
	check_refused(plain, NULL, 0, "no metric specs returned from scalers for ScaledObject shop/web");
	check_refused(plain, twice, 3, "metricName s0-x defined multiple times in ScaledObject web");
	check_refused(plain, &utilization, 1,
		"metric s0-x: metricType Utilization is for cpu and memory only: use AverageValue or Value");
	check_refused(plain, &zero, 1, "metric s0-x: the target 0 must be more than 0");
	check_refused(GIVEN_SO("", "'scaleTargetRef':{'name':'x','apiVersion':'a/b/c'}"), two_metrics, 1,
		"spec.scaleTargetRef.apiVersion: \"a/b/c\" is not a group and version, like apps/v1");
}

/* ---- Comparing ---- */

#define SO_LABELLED                                                                                                    \
	GIVEN_SO(",'labels':{'team':'a'},'annotations':{'note':'n'}",                                                  \
		GIVEN_TARGET "," GIVEN_TRIGGERS ",'advanced':{'horizontalPodAutoscalerConfig':{'behavior':{'"          \
			     "scaleDown':{'stabilizationWindowSeconds':60}}}}")

/* As an API server would return it: defaults, other texts, a status, more metadata. */
#define STORED_SPEC                                                                                                    \
	"'scaleTargetRef':{'kind':'Deployment','name':'web','apiVersion':'apps/"                                       \
	"v1'},'minReplicas':1,'maxReplicas':100,'metrics':[" METRIC_A "],"                                             \
	"'behavior':{'scaleUp':{'stabilizationWindowSeconds':0,'selectPolicy':'Max','policies':[{'type':'Pods','"      \
	"value':4,'periodSeconds':15},{'type':'Percent','value':100,'periodSeconds':15}]},"                            \
	"'scaleDown':{'stabilizationWindowSeconds':60,'selectPolicy':'Max','policies':[{'type':'Percent','value':100," \
	"'periodSeconds':15}]}}"
#define STORED(labels, annotations, owners, spec)                                                                      \
	"{'kind':'HorizontalPodAutoscaler','apiVersion':'autoscaling/"                                                 \
	"v2','metadata':{'name':'keda-hpa-web','namespace':'shop','uid':'h','resourceVersion':'12','"                  \
	"creationTimestamp':'2026-01-02T03:04:05Z',"                                                                   \
	"'labels':{" LABELS("keda-hpa-web") labels "},'annotations':{" annotations "},'ownerReferences':[" owners      \
						   "],'managedFields':[{'manager':'x'}]},'spec':{" spec                \
						   "},'status':{'currentReplicas':1}}"

struct comparison {
	const char *live;
	bool matches;
};

static const struct comparison comparisons[] = {
	{ STORED(",'team':'a'", "'note':'n'", OWNER, STORED_SPEC), true },
	{ STORED(",'team':'a','theirs':'x'",
		  "'note':'n','theirs':'y','kubectl.kubernetes.io/"
		  "last-applied-configuration':'{}','validations.keda.sh/hpa-ownership':'false'",
		  OWNER, STORED_SPEC),
		true },
	{ STORED(",'team':'a'", "'note':'n'", "{'kind':'Other','uid':'o'}," OWNER, STORED_SPEC), true },
	{ STORED(",'team':'b'", "'note':'n'", OWNER, STORED_SPEC), false },
	{ STORED("", "'note':'n'", OWNER, STORED_SPEC), false },
	{ STORED(",'team':'a'", "", OWNER, STORED_SPEC), false },
	{ STORED(",'team':'a'", "'note':'n'", "", STORED_SPEC), false },
	{ STORED(",'team':'a'", "'note':'n'",
		  "{'apiVersion':'keda.sh/v1alpha1','kind':'ScaledObject','name':'web','uid':'u-0','controller':true}",
		  STORED_SPEC),
		false },
	{ STORED(",'team':'a'", "'note':'n'", OWNER,
		  TARGET ",'maxReplicas':101,'minReplicas':1,'metrics':[" METRIC_A "]"),
		false },
	/* left over from an earlier version of the ScaledObject */
	{ STORED(",'team':'a'", "'note':'n','autoscaling.keda.sh/paused-scale-in':'true'", OWNER, STORED_SPEC), false },
	{ STORED(",'team':'a','scaledobject.keda.sh/old':''", "'note':'n'", OWNER, STORED_SPEC), false },
	{ "{'metadata':{'name':'keda-hpa-web'}}", false },
};

static void test_matches(void **state)
{
	struct scaledobject *so = given_scaledobject(SO_LABELLED);
	json_t *desired = make(so, 1);

	(void)state;
	for (size_t i = 0; i < sizeof(comparisons) / sizeof(comparisons[0]); i++) {
		json_t *object = given_json(comparisons[i].live);
		struct hpa *live = hpa_decode(object, NULL);

		if (hpaspec_matches(desired, live) != comparisons[i].matches)
			fail_msg("case %zu: %s", i, comparisons[i].live);
		hpa_free(live);
		json_decref(object);
	}
	json_decref(desired);
	scaledobject_free(so);
}

/*
 * Whatever the live object, the result of merge satisfies matches, and merging again changes
 * nothing.
 */
static void test_merge_settles(void **state)
{
	struct scaledobject *so = given_scaledobject(SO_LABELLED);
	json_t *desired = make(so, 1);

	(void)state;
	for (size_t i = 0; i < sizeof(comparisons) / sizeof(comparisons[0]); i++) {
		json_t *object = given_json(comparisons[i].live), *before = json_deep_copy(object),
		       *merged = hpaspec_merge(desired, object, NULL), *again;
		struct hpa *live;

		assert_non_null(merged);
		assert_true(json_equal(object, before));
		live = hpa_decode(merged, NULL);
		assert_true(hpaspec_matches(desired, live));
		again = hpaspec_merge(desired, merged, NULL);
		assert_true(json_equal(again, merged));
		hpa_free(live);
		json_decref(object);
		json_decref(before);
		json_decref(merged);
		json_decref(again);
	}
	json_decref(desired);
	scaledobject_free(so);
}

static void test_merge_keeps(void **state)
{
	struct scaledobject *so = given_scaledobject(SO_LABELLED);
	json_t *desired = make(so, 1), *live, *merged, *metadata, *owners;

	(void)state;
	live = given_json("{'metadata':{'name':'keda-hpa-web','resourceVersion':'12','finalizers':['f'],'labels':{'"
			  "theirs':'x','team':'b','scaledobject.keda.sh/old':''},"
			  "'annotations':{'kubectl.kubernetes.io/last-applied-configuration':'{}','autoscaling.keda.sh/"
			  "paused':'true'},'managedFields':[{}],"
			  "'ownerReferences':[{'kind':'Other','uid':'o'},{'apiVersion':'keda.sh/"
			  "v1alpha1','kind':'ScaledObject','name':'web','uid':'u-0','controller':true}]},"
			  "'spec':{'minReplicas':9},'status':{'currentReplicas':1}}");
	merged = hpaspec_merge(desired, live, NULL);
	metadata = json_object_get(merged, "metadata");
	owners = json_object_get(metadata, "ownerReferences");
	assert_string_equal(json_str_or_empty(merged, "kind"), "HorizontalPodAutoscaler");
	assert_string_equal(json_str_or_empty(metadata, "resourceVersion"), "12");
	assert_non_null(json_object_get(metadata, "finalizers"));
	assert_null(json_object_get(metadata, "managedFields"));
	assert_null(json_object_get(merged, "status"));
	assert_true(json_equal(json_object_get(merged, "spec"), json_object_get(desired, "spec")));
	assert_string_equal(json_str_or_empty(json_object_get(metadata, "labels"), "theirs"), "x");
	assert_string_equal(json_str_or_empty(json_object_get(metadata, "labels"), "team"), "a");
	assert_null(json_object_get(json_object_get(metadata, "labels"), "scaledobject.keda.sh/old"));
	assert_string_equal(json_str_or_empty(json_object_get(metadata, "annotations"),
				    "kubectl.kubernetes.io/last-applied-configuration"),
		"{}");
	assert_null(json_object_get(json_object_get(metadata, "annotations"), "autoscaling.keda.sh/paused"));
	assert_int_equal(json_array_size(owners), 2);
	assert_string_equal(json_str_or_empty(json_array_get(owners, 0), "uid"), "o");
	assert_string_equal(json_str_or_empty(json_array_get(owners, 1), "uid"), "u-1");
	json_decref(live);
	json_decref(merged);
	json_decref(desired);
	scaledobject_free(so);
}

static void test_merge_foreign(void **state)
{
	static const char *const foreign[] = {
		"{'apiVersion':'keda.sh/v1alpha1','kind':'ScaledObject','name':'other','uid':'u-2','controller':true}",
		"{'apiVersion':'example.com/v1','kind':'ScaledObject','name':'web','uid':'u-2','controller':true}",
		"{'apiVersion':'apps/v1','kind':'Deployment','name':'web','uid':'u-2','controller':true}",
	};
	struct scaledobject *so = given_scaledobject(SO_LABELLED);
	json_t *desired = make(so, 1);

	(void)state;
	for (size_t i = 0; i < sizeof(foreign) / sizeof(foreign[0]); i++) {
		char *text = mem_printf("{'metadata':{'name':'h','namespace':'shop','ownerReferences':[%s]}}",
			foreign[i]);
		json_t *live = given_json(text);
		struct err err = { 0 };

		assert_null(hpaspec_merge(desired, live, &err));
		assert_int_equal(err.kind, ERR_CONFLICT);
		assert_has(err.msg, "HorizontalPodAutoscaler shop/h is controlled by ");
		json_decref(live);
		free(text);
	}
	{
		struct err err = { 0 };

		assert_null(hpaspec_merge(desired, NULL, &err));
		assert_int_equal(err.kind, ERR_INVALID);
	}
	json_decref(desired);
	scaledobject_free(so);
}

/* ---- All kinds of metrics ---- */

#define RESOURCE(name)                                                                                                 \
	"{'type':'Resource','resource':{'name':'" name "','target':{'type':'Utilization','averageUtilization':50}}}"
#define CONTAINER(name, container)                                                                                     \
	"{'type':'ContainerResource','containerResource':{'name':'" name "','container':'" container                   \
	"','target':{'type':'AverageValue','averageValue':'512Mi'}}}"
#define COMPOSITE(target)                                                                                              \
	"{'type':'External','external':{'metric':{'name':'composite-metric','selector':{'matchLabels':{'scaledobject." \
	"keda.sh/name':'web'}}},'target':{" target "}}}"
#define MIB_512                                                                                                        \
	{                                                                                                              \
		(int64_t)512 * 1024 * 1024 * 1000, QUANTITY_BINARY_SI                                                  \
	}

static const struct metric_spec all_kinds[] = {
	{ .kind = METRIC_RESOURCE,
		.name = "memory",
		.target_type = METRIC_UTILIZATION,
		.target = { 50000, QUANTITY_DECIMAL_SI } },
	{ .name = "s0-redis-jobs", .target = { 5000, QUANTITY_DECIMAL_SI } },
	{ .kind = METRIC_CONTAINER_RESOURCE, .name = "memory", .container = "b", .target = MIB_512 },
	{ .kind = METRIC_RESOURCE,
		.name = "cpu",
		.target_type = METRIC_UTILIZATION,
		.target = { 50000, QUANTITY_DECIMAL_SI } },
	{ .kind = METRIC_CONTAINER_RESOURCE, .name = "memory", .container = "a", .target = MIB_512 },
	{ .name = "s5-redis-mail", .target = { 0, QUANTITY_DECIMAL_SI } }, /* only a formula can use it */
};

#define SO_WITH(spec) GIVEN_SO("", GIVEN_TARGET "," GIVEN_TRIGGERS spec)

static void check_spec_part(const char *object, const struct metric_spec *metrics, size_t count, const char *part,
	const char *wanted_text)
{
	struct scaledobject *so = given_scaledobject(object);
	struct err err = { 0 };
	json_t *made = hpaspec_make(so, metrics, count, "1", &err), *wanted = given_json(wanted_text),
	       *got = json_object_get(json_object_get(made, "spec"), part);

	if (made == NULL)
		fail_msg("%s: %s", object, err.msg);
	if (!json_equal(got, wanted))
		fail_msg("%s\n made   %s\n wanted %s", object, got != NULL ? json_text(got) : "nothing",
			json_text(wanted));
	json_decref(made);
	json_decref(wanted);
	scaledobject_free(so);
}

static void test_kinds(void **state)
{
	(void)state;
	/* by type, in trigger order within */
	check_spec_part(SO_WITH(""), all_kinds, 5, "metrics",
		"[" CONTAINER("memory", "b") "," CONTAINER("memory", "a") "," METRIC_A "," RESOURCE(
			"memory") "," RESOURCE("cpu") "]");
	check_spec_part(SO_WITH(""), all_kinds, 1, "metrics", "[" RESOURCE("memory") "]");
}

static void test_composite(void **state)
{
	(void)state;
	check_spec_part(SO_WITH(",'advanced':{'scalingModifiers':{'formula':'a','target':'2.5'}}"), all_kinds, 6,
		"metrics",
		"[" CONTAINER("memory", "b") "," CONTAINER("memory", "a") "," COMPOSITE(
			"'type':'AverageValue','averageValue':'2500m'") "," RESOURCE("memory") "," RESOURCE("cpu") "]");
	check_spec_part(SO_WITH(",'advanced':{'scalingModifiers':{'formula':'a','target':'7','metricType':'Value'}}"),
		two_metrics, 2, "metrics", "[" COMPOSITE("'type':'Value','value':'7'") "]");
}

#define ANNOTATED(annotations, spec) GIVEN_SO(",'annotations':{" annotations "}", GIVEN_TARGET "," GIVEN_TRIGGERS spec)
#define WRITTEN                                                                                                        \
	",'advanced':{'horizontalPodAutoscalerConfig':{'behavior':{'scaleDown':{'stabilizationWindowSeconds':60,'"     \
	"selectPolicy':'Min'}}}}"

static void test_paused_directions(void **state)
{
	(void)state;
	check_spec_part(ANNOTATED("'autoscaling.keda.sh/paused-scale-in':'true'", ""), two_metrics, 1, "behavior",
		"{'scaleDown':{'selectPolicy':'Disabled'}}");
	check_spec_part(ANNOTATED("'autoscaling.keda.sh/paused-scale-out':'true'", ""), two_metrics, 1, "behavior",
		"{'scaleUp':{'selectPolicy':'Disabled'}}");
	check_spec_part(ANNOTATED("'autoscaling.keda.sh/paused-scale-in':'true','autoscaling.keda.sh/"
				  "paused-scale-out':'1'",
				WRITTEN),
		two_metrics, 1, "behavior",
		"{'scaleDown':{'stabilizationWindowSeconds':60,'selectPolicy':'Disabled'},'scaleUp':{'selectPolicy':'"
		"Disabled'}}");
	check_spec_part(ANNOTATED("'autoscaling.keda.sh/paused-scale-in':'false'", WRITTEN), two_metrics, 1, "behavior",
		"{'scaleDown':{'stabilizationWindowSeconds':60,'selectPolicy':'Min'}}");
}

/* The API server's form of a disabled direction equals ours: nothing is written again. */
static void test_paused_direction_settles(void **state)
{
	struct scaledobject *so = given_scaledobject(ANNOTATED("'autoscaling.keda.sh/paused-scale-in':'true'", ""));
	json_t *desired = make(so, 1), *stored = json_deep_copy(desired),
	       *behavior = given_json("{'scaleUp':{'stabilizationWindowSeconds':0,'selectPolicy':'Max','policies':[{'"
				      "type':'Pods','value':4,'periodSeconds':15},"
				      "{'type':'Percent','value':100,'periodSeconds':15}]},'scaleDown':{'selectPolicy':"
				      "'Disabled','policies':[{'type':'Percent','value':100,'periodSeconds':15}]}}");
	struct hpa *live;

	(void)state;
	json_object_set_new(json_object_get(stored, "spec"), "behavior", behavior);
	live = hpa_decode(stored, NULL);
	assert_true(hpaspec_matches(desired, live));
	hpa_free(live);
	json_decref(stored);
	json_decref(desired);
	scaledobject_free(so);
}

static void test_refused_kinds(void **state)
{
	static const struct metric_spec value = { .kind = METRIC_RESOURCE,
		.name = "cpu",
		.target_type = METRIC_VALUE,
		.target = { 1000, QUANTITY_DECIMAL_SI } };

	(void)state;
	check_refused(SO_WITH(""), &value, 1,
		"metric cpu: metricType Value is not for cpu and memory: use Utilization or AverageValue");
	check_refused(SO_WITH(""), all_kinds, 6, "metric s5-redis-mail: the target 0 must be more than 0");
	check_refused(SO_WITH(",'advanced':{'scalingModifiers':{'formula':'a'}}"), two_metrics, 1,
		"spec.advanced.scalingModifiers.target: \"\" is not a number of at least 0.001");
	check_refused(SO_WITH(",'advanced':{'scalingModifiers':{'formula':'a','target':'5x'}}"), two_metrics, 1,
		"spec.advanced.scalingModifiers.target: \"5x\" is not a number of at least 0.001");
	check_refused(ANNOTATED("'autoscaling.keda.sh/paused-scale-in':'maybe'", ""), two_metrics, 1,
		"metadata.annotations[autoscaling.keda.sh/paused-scale-in]: \"maybe\" is neither true nor false");
}

/* ---- Whose it is ---- */

#define NAMED           ",'advanced':{'horizontalPodAutoscalerConfig':{'name':'h'}}"
#define TRANSFER(value) "'scaledobject.keda.sh/transfer-hpa-ownership':'" value "'"
#define BY(kind, api_version, name)                                                                                    \
	"{'metadata':{'name':'h','ownerReferences':[{'apiVersion':'v1','kind':'Other','name':'o','uid':'o'},{'"        \
	"apiVersion':'" api_version "','kind':'" kind "','name':'" name "','uid':'u-0','controller':true}]}}"

static void test_claim(void **state)
{
	static const struct {
		const char *so, *live;
		enum hpaspec_claim claim;
	} cases[] = {
		{ SO_WITH(""), BY("ScaledObject", "keda.sh/v1alpha1", "web"), HPASPEC_OURS },
		{ SO_WITH(""), BY("ScaledObject", "keda.sh/v1alpha1", "other"), HPASPEC_FOREIGN },
		{ SO_WITH(""), BY("ScaledObject", "example.com/v1", "web"), HPASPEC_FOREIGN },
		{ SO_WITH(""),
			"{'metadata':{'name':'h','labels':{'kscaled.io/managed':'true','scaledobject.keda.sh/"
			"name':'web'}}}",
			HPASPEC_OURS },
		{ SO_WITH(""),
			"{'metadata':{'name':'h','labels':{'kscaled.io/managed':'true','scaledobject.keda.sh/"
			"name':'other'}}}",
			HPASPEC_FOREIGN },
		{ SO_WITH(""), "{'metadata':{'name':'h','labels':{'scaledobject.keda.sh/name':'web'}}}",
			HPASPEC_FOREIGN },
		{ SO_WITH(NAMED), "{'metadata':{'name':'h'}}", HPASPEC_FOREIGN },
		{ ANNOTATED(TRANSFER("true"), ""), "{'metadata':{'name':'h'}}", HPASPEC_FOREIGN },
		{ ANNOTATED(TRANSFER("false"), NAMED), "{'metadata':{'name':'h'}}", HPASPEC_FOREIGN },
		{ ANNOTATED(TRANSFER("maybe"), NAMED), "{'metadata':{'name':'h'}}", HPASPEC_FOREIGN },
		{ ANNOTATED(TRANSFER("true"), NAMED), "{'metadata':{'name':'h'}}", HPASPEC_TAKEABLE },
		{ ANNOTATED(TRANSFER("true"), NAMED), BY("ScaledObject", "keda.sh/v1alpha1", "other"),
			HPASPEC_TAKEABLE },
		{ ANNOTATED(TRANSFER("true"), NAMED), BY("Deployment", "apps/v1", "web"), HPASPEC_TAKEABLE },
		{ ANNOTATED(TRANSFER("true"), NAMED), BY("ScaledObject", "keda.sh/v1alpha1", "web"), HPASPEC_OURS },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct scaledobject *so = given_scaledobject(cases[i].so);
		json_t *live = given_json(cases[i].live);

		if (hpaspec_claim(so, live) != cases[i].claim)
			fail_msg("case %zu: %d", i, (int)hpaspec_claim(so, live));
		json_decref(live);
		scaledobject_free(so);
	}
}

/* Writers and times, as the API server records them. */
#define WROTE(who, what, at, fields)                                                                                   \
	"{'manager':'" who "','operation':'" what "','time':'2026-01-02T03:04:" at "Z','fieldsV1':{" fields "}}"
#define SPEC_OF            "'f:spec':{'f:maxReplicas':{}}"
#define LABEL_FIELDS(keys) "'f:metadata':{'f:labels':{" keys "}}"
#define OURS_SINCE(entries)                                                                                            \
	"{'metadata':{'name':'h','labels':{'kscaled.io/managed':'true','scaledobject.keda.sh/name':'web','a':'1',"     \
	"'b':'2','c':'3'},'ownerReferences':[{'apiVersion':'v1','kind':'Other','name':'o','uid':'o'},{'apiVersion':'"  \
	"keda.sh/"                                                                                                     \
	"v1alpha1','kind':'ScaledObject','name':'web','uid':'u-1','controller':true}],'managedFields':[" entries       \
	"]},'spec':{},'status':{}}"

/* An HPA that others apply as their own is theirs; one that they edit is not. */
static void test_applied(void **state)
{
	static const struct {
		const char *live, *who;
	} cases[] = {
		{ OURS_SINCE(WROTE("kscaled", "Update", "05", SPEC_OF)), NULL },
		{ OURS_SINCE(WROTE("kscaled", "Update", "05", SPEC_OF) "," WROTE("helm", "Update", "06", SPEC_OF)),
			"helm" },
		{ OURS_SINCE(WROTE("kubectl", "Apply", "07", SPEC_OF) "," WROTE("kscaled", "Update", "05", SPEC_OF)),
			"kubectl" },
		{ OURS_SINCE(WROTE("keda", "Update", "05", SPEC_OF) "," WROTE("kubectl-client-side-apply", "Update",
			  "06", SPEC_OF)),
			"kubectl-client-side-apply" },
		/* before us: it was taken over from them */
		{ OURS_SINCE(WROTE("helm", "Update", "04", SPEC_OF) "," WROTE("kscaled", "Update", "05", SPEC_OF)),
			NULL },
		/* an edit, a label, the status */
		{ OURS_SINCE(
			  WROTE("kscaled", "Update", "05", SPEC_OF) "," WROTE("kubectl-edit", "Update", "06", SPEC_OF)),
			NULL },
		{ OURS_SINCE(WROTE("kscaled", "Update", "05", SPEC_OF) "," WROTE("kubectl", "Apply", "06",
			  LABEL_FIELDS("'f:a':{}"))),
			NULL },
		{ OURS_SINCE(WROTE("kscaled", "Update", "05", SPEC_OF) ",{'subresource':'status',"
								       "'manager':'x','operation':'Apply','time':'2026-"
								       "01-02T03:04:06Z','fieldsV1':{'f:spec':{}}}"),
			NULL },
		{ "{'metadata':{}}", NULL },
	};
	struct scaledobject *so = given_scaledobject(SO_WITH("")),
			    *takes = given_scaledobject(ANNOTATED(TRANSFER("true"), NAMED));

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		json_t *live = given_json(cases[i].live), *given = hpaspec_given_away(live);
		const char *who = hpaspec_applied_by(live);

		if (!text_equal(who, cases[i].who))
			fail_msg("case %zu: %s", i, who ? who : "nobody");
		if (who) {
			assert_int_equal(hpaspec_claim(so, live), HPASPEC_GIVEN_AWAY);
			assert_int_equal(hpaspec_claim(takes, live), HPASPEC_TAKEABLE);
			assert_int_equal(hpaspec_claim(so, given), HPASPEC_FOREIGN);
			assert_int_equal(json_array_size(json_object_get(json_object_get(given, "metadata"),
						 "ownerReferences")),
				1);
		}
		json_decref(given);
		json_decref(live);
	}
	scaledobject_free(so);
	scaledobject_free(takes);
}

/* Earlier keys of the ScaledObject are removed, unless another manager wrote them, too. */
static void test_merge_prunes(void **state)
{
	struct scaledobject *so = given_scaledobject(SO_WITH(""));
	json_t *desired = make(so, 1), *labels,
	       *live = given_json(OURS_SINCE(WROTE("kscaled", "Update", "05",
		       LABEL_FIELDS("'f:a':{},'f:b':{},'f:app.kubernetes.io/part-of':{}")) "," WROTE("kubectl-label",
		       "Update", "06", LABEL_FIELDS("'f:b':{},'f:c':{}")))),
	       *merged = hpaspec_merge(desired, live, NULL);

	(void)state;
	labels = json_object_get(json_object_get(merged, "metadata"), "labels");
	assert_null(json_object_get(labels, "a"));
	assert_string_equal(json_str_or_empty(labels, "b"), "2");
	assert_string_equal(json_str_or_empty(labels, "c"), "3");
	assert_string_equal(json_str_or_empty(labels, "app.kubernetes.io/part-of"), "web");
	json_decref(merged);
	json_decref(live);
	json_decref(desired);
	scaledobject_free(so);
}

/* Taken over: the foreign controller's reference goes, other references stay. */
static void test_merge_taken(void **state)
{
	struct scaledobject *so = given_scaledobject(ANNOTATED(TRANSFER("true"), NAMED));
	json_t *desired = make(so, 1), *live = given_json(BY("ScaledObject", "keda.sh/v1alpha1", "other")),
	       *merged = hpaspec_merge(desired, live, NULL), *owners;
	struct hpa *after;

	(void)state;
	assert_non_null(merged);
	owners = json_object_get(json_object_get(merged, "metadata"), "ownerReferences");
	assert_int_equal(json_array_size(owners), 2);
	assert_string_equal(json_str_or_empty(json_array_get(owners, 0), "uid"), "o");
	assert_string_equal(json_str_or_empty(json_array_get(owners, 1), "uid"), "u-1");
	after = hpa_decode(merged, NULL);
	assert_true(hpaspec_matches(desired, after));
	hpa_free(after);
	json_decref(merged);
	json_decref(live);
	json_decref(desired);
	scaledobject_free(so);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_labels),
		cmocka_unit_test(test_annotations),
		cmocka_unit_test(test_name_label),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_matches),
		cmocka_unit_test(test_merge_settles),
		cmocka_unit_test(test_merge_keeps),
		cmocka_unit_test(test_merge_foreign),
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_composite),
		cmocka_unit_test(test_paused_directions),
		cmocka_unit_test(test_paused_direction_settles),
		cmocka_unit_test(test_refused_kinds),
		cmocka_unit_test(test_claim),
		cmocka_unit_test(test_applied),
		cmocka_unit_test(test_merge_prunes),
		cmocka_unit_test(test_merge_taken),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
