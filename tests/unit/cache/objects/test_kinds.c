/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Which resource a kind is: found, missing, installed and taken away while we run, and a server
 * that does not answer.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakeloop.h"

#include "base/buf.h"
#include "base/log.h"
#include "base/mem.h"
#include "cache/objects/kinds.h"

#define ARGO "/apis/argoproj.io/v1alpha1"
#define ROLLOUTS                                                                                                       \
	"{'kind':'APIResourceList','resources':[{'name':'rollouts','kind':'Rollout','namespaced':true},{'name':'"      \
	"rollouts/status','kind':'Rollout','namespaced':true},"                                                        \
	"{'name':'rollouts/"                                                                                           \
	"scale','kind':'Scale','group':'autoscaling','version':'v1','namespaced':true},{'name':'reports','kind':'"     \
	"Report','namespaced':true},"                                                                                  \
	"{'name':'clusters','kind':'Cluster','namespaced':false},{'name':'clusters/"                                   \
	"scale','kind':'Scale','namespaced':false}]}"

static struct {
	struct kinds *kinds;
	const char *wanted; /* asked for at each look, as listeners must; NULL */
	unsigned looks, changes;
} t;

static enum kind_state get_for(const char *namespace_, const char *group, const char *version, const char *kind,
	struct kind *out, char *text)
{
	struct err err = { 0 };
	bool wrong = true;
	enum kind_state state = kinds_get(t.kinds, namespace_, group, version, kind, out, &wrong, &err);

	if (text)
		snprintf(text, ERR_MSG_MAX, "%s%s: %s", wrong ? "wrong " : "", err_kind_name(err.kind), err.msg);
	return state;
}

static enum kind_state get(const char *group, const char *version, const char *kind, struct kind *out, char *text)
{
	return get_for("shop", group, version, kind, out, text);
}

static void on_kinds(void *arg, bool changed)
{
	assert_ptr_equal(arg, &t);
	t.looks++;
	t.changes += changed;
	if (t.wanted)
		get("argoproj.io", "v1alpha1", t.wanted, NULL, NULL);
}

static void drop_line(void *arg, enum log_level level, const char *line)
{
	(void)arg;
	(void)level;
	(void)line;
}

static int setup(void **state)
{
	(void)state;
	memset(&t, 0, sizeof(t));
	log_set_sink(drop_line, NULL);
	t.kinds = kinds_new(fakecluster_start(fakeloop_start()));
	kinds_listen(t.kinds, on_kinds, &t);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	kinds_free(t.kinds);
	fakeloop_advance(0);
	fakecluster_end();
	fakeloop_end();
	log_set_sink(NULL, NULL);
	return 0;
}

static unsigned reads(void)
{
	return fakecluster_calls(KUBE_GET, "");
}

static void apps_are_known_without_asking(void **state)
{
	struct kind kind;

	(void)state;
	assert_int_equal(get("apps", "v1", "Deployment", &kind, NULL), KIND_PRESENT);
	assert_string_equal(kind.resource, "deployments");
	assert_true(kind.namespaced && kind.scalable);
	assert_int_equal(get("apps", "v1", "StatefulSet", &kind, NULL), KIND_PRESENT);
	assert_string_equal(kind.resource, "statefulsets");
	fakeloop_advance(600000);
	assert_int_equal(reads(), 0);
}

static void one_look_finds_all_of_a_group(void **state)
{
	struct kind kind;
	char text[ERR_MSG_MAX];

	(void)state;
	fakecluster_serve(ARGO, ROLLOUTS);
	assert_int_equal(get("argoproj.io", "v1alpha1", "Rollout", &kind, text), KIND_UNREAD);
	assert_string_equal(text, "temporary: its kind is being looked up");
	get("argoproj.io", "v1alpha1", "Report", &kind, NULL);
	fakeloop_advance(10);
	assert_int_equal(t.changes, 1);
	assert_int_equal(get("argoproj.io", "v1alpha1", "Rollout", &kind, NULL), KIND_PRESENT);
	assert_string_equal(kind.resource, "rollouts");
	assert_true(kind.namespaced && kind.scalable);
	assert_int_equal(get("argoproj.io", "v1alpha1", "Report", &kind, NULL), KIND_PRESENT);
	assert_true(kind.namespaced && !kind.scalable);
	assert_int_equal(get("argoproj.io", "v1alpha1", "Cluster", &kind, NULL), KIND_PRESENT);
	assert_true(!kind.namespaced && kind.scalable);
	assert_int_equal(get("argoproj.io", "v1alpha1", "Scale", &kind, text), KIND_MISSING);
	assert_string_equal(text, "missing: no kind Scale in argoproj.io/v1alpha1: is its CRD installed?");
	assert_int_equal(reads(), 1);
}

static void the_core_group_and_foreign_deployments(void **state)
{
	struct kind kind;

	(void)state;
	fakecluster_serve("/api/v1",
		"{'resources':[{'name':'replicationcontrollers','kind':'ReplicationController','namespaced':true},"
		"{'name':'replicationcontrollers/scale','kind':'Scale','namespaced':true}]}");
	fakecluster_serve("/apis/example.com/v1",
		"{'resources':[{'name':'deploys','kind':'Deployment','namespaced':true},{'name':'deploys/"
		"scale','kind':'Scale','namespaced':true}]}");
	get("", "v1", "ReplicationController", &kind, NULL);
	get("example.com", "v1", "Deployment", &kind, NULL);
	fakeloop_advance(10);
	assert_int_equal(get("", "v1", "ReplicationController", &kind, NULL), KIND_PRESENT);
	assert_string_equal(kind.resource, "replicationcontrollers");
	assert_int_equal(get("example.com", "v1", "Deployment", &kind, NULL), KIND_PRESENT);
	assert_string_equal(kind.resource, "deploys");
}

static void a_crd_may_come_later_and_go_again(void **state)
{
	struct kind kind;
	char text[ERR_MSG_MAX];

	(void)state;
	t.wanted = "Rollout";
	get("argoproj.io", "v1alpha1", "Rollout", &kind, NULL);
	fakeloop_advance(10);
	assert_int_equal(get("argoproj.io", "v1alpha1", "Rollout", &kind, text), KIND_MISSING);
	assert_string_equal(text, "missing: no kind Rollout in argoproj.io/v1alpha1: is its CRD installed?");
	fakeloop_advance(600000);
	assert_in_range(reads(), 15, 40); /* backed off to half a minute */
	assert_int_equal(t.changes, 1);
	fakecluster_serve(ARGO, ROLLOUTS);
	fakeloop_advance(37000);
	assert_int_equal(get("argoproj.io", "v1alpha1", "Rollout", &kind, NULL), KIND_PRESENT);
	assert_int_equal(t.changes, 2);
	fakecluster_serve(ARGO, NULL);
	kinds_doubt(t.kinds, "argoproj.io", "v1alpha1");
	fakeloop_advance(10);
	assert_int_equal(get("argoproj.io", "v1alpha1", "Rollout", &kind, NULL), KIND_MISSING);
	assert_int_equal(t.changes, 3);
}

/*
 * Discovery lists the kind for a moment after its CRD is gone: one refresh does not settle a doubt.
 */
static void a_doubt_lasts(void **state)
{
	struct kind kind;
	unsigned before;

	(void)state;
	t.wanted = "Rollout";
	fakecluster_serve(ARGO, ROLLOUTS);
	get("argoproj.io", "v1alpha1", "Rollout", &kind, NULL);
	fakeloop_advance(10);
	kinds_doubt(t.kinds, "argoproj.io", "v1alpha1");
	fakeloop_advance(5000);
	assert_int_equal(get("argoproj.io", "v1alpha1", "Rollout", &kind, NULL), KIND_PRESENT);
	fakecluster_serve(ARGO, NULL);
	fakeloop_advance(10000);
	assert_int_equal(get("argoproj.io", "v1alpha1", "Rollout", &kind, NULL), KIND_MISSING);
	/* The refreshes end; kinds without requests are dropped. */
	fakecluster_serve(ARGO, ROLLOUTS);
	fakeloop_advance(60000);
	before = reads();
	fakeloop_advance(240000);
	assert_in_range(reads() - before, 0, 1);
	kinds_doubt(t.kinds, "example.com", "v1");
	kinds_doubt(t.kinds, "apps", "v1");
	fakeloop_advance(10);
	assert_int_equal(fakecluster_calls(KUBE_GET, "example.com"), 0);
}

static void a_server_that_does_not_answer_is_asked_again(void **state)
{
	static const int statuses[] = { 500, 403, 0 };
	struct kind kind;
	char text[ERR_MSG_MAX];

	(void)state;
	for (size_t i = 0; i < sizeof(statuses) / sizeof(statuses[0]); i++) {
		t.wanted = "Rollout";
		fakecluster_serve(ARGO, ROLLOUTS);
		fakecluster_fail(statuses[i] ? FAKECLUSTER_REFUSE : FAKECLUSTER_HANG, KUBE_GET, ARGO, FAKECLUSTER_ANY,
			statuses[i]);
		get("argoproj.io", "v1alpha1", "Rollout", &kind, NULL);
		fakeloop_advance(600000);
		assert_int_equal(get("argoproj.io", "v1alpha1", "Rollout", &kind, text), KIND_UNREAD);
		assert_non_null(strstr(text, "wrong temporary: discovery of argoproj.io/v1alpha1: "));
		assert_int_equal(t.changes, 1); /* notified once */
		assert_in_range(reads(), 10, 40);
		fakecluster_heal();
		fakeloop_advance(40000);
		assert_int_equal(get("argoproj.io", "v1alpha1", "Rollout", &kind, NULL), KIND_PRESENT);
		assert_int_equal(t.changes, 2);
		/* A known kind stays known. */
		fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_GET, ARGO, FAKECLUSTER_ANY, 503);
		fakeloop_advance(900000);
		assert_int_equal(get("argoproj.io", "v1alpha1", "Rollout", &kind, NULL), KIND_PRESENT);
		assert_int_equal(t.changes, 2);
		teardown(state);
		setup(state);
	}
}

static void nonsense_is_no_list(void **state)
{
	struct kind kind;
	char text[ERR_MSG_MAX];

	(void)state;
	t.wanted = "Rollout";
	fakecluster_serve(ARGO, "{'kind':'Status'}");
	get("argoproj.io", "v1alpha1", "Rollout", &kind, NULL);
	fakeloop_advance(10);
	assert_int_equal(get("argoproj.io", "v1alpha1", "Rollout", &kind, text), KIND_UNREAD);
	assert_string_equal(text,
		"wrong temporary: discovery of argoproj.io/v1alpha1: the answer is not a list of resources");
	fakecluster_serve(ARGO,
		"{'resources':[7,{},{'name':'../../secrets','kind':'Rollout','namespaced':true},{'name':'/"
		"scale'},{'name':'rollouts/scale','kind':'Scale'},"
		"{'name':'rollouts','kind':'Rollout','namespaced':'yes'}]}");
	fakeloop_advance(2000);
	assert_int_equal(get("argoproj.io", "v1alpha1", "Rollout", &kind, NULL), KIND_PRESENT);
	assert_string_equal(kind.resource, "rollouts");
	assert_true(!kind.namespaced && kind.scalable);
}

static void a_scale_subresource_may_be_added(void **state)
{
	struct kind kind;

	(void)state;
	t.wanted = "Report";
	fakecluster_serve(ARGO, "{'resources':[{'name':'reports','kind':'Report','namespaced':true}]}");
	get("argoproj.io", "v1alpha1", "Report", &kind, NULL);
	fakeloop_advance(60000);
	assert_int_equal(get("argoproj.io", "v1alpha1", "Report", &kind, NULL), KIND_PRESENT);
	assert_false(kind.scalable);
	fakecluster_serve(ARGO,
		"{'resources':[{'name':'reports','kind':'Report','namespaced':true},{'name':'reports/"
		"scale','kind':'Scale','namespaced':true}]}");
	fakeloop_advance(37000);
	get("argoproj.io", "v1alpha1", "Report", &kind, NULL);
	assert_true(kind.scalable);
	assert_int_equal(t.changes, 2);
}

static void unrequested_kinds_are_dropped(void **state)
{
	struct kind kind;
	unsigned before;

	(void)state;
	fakecluster_serve(ARGO, ROLLOUTS);
	get("argoproj.io", "v1alpha1", "Rollout", &kind, NULL);
	fakeloop_advance(700000);
	before = reads();
	fakeloop_advance(3600000);
	assert_int_equal(reads(), before);
	assert_int_equal(get("argoproj.io", "v1alpha1", "Rollout", &kind, NULL), KIND_UNREAD);
}

static void there_is_an_end_to_groups(void **state)
{
	struct kind kind;
	char group[64], text[ERR_MSG_MAX];

	(void)state;
	for (int i = 0; i < (KINDS_MAX - KINDS_MAX / 4) / 2; i++) { /* a namespace's share */
		snprintf(group, sizeof(group), "g%d.example.com", i);
		assert_int_equal(get(group, "v1", "Thing", &kind, text), KIND_UNREAD);
		assert_string_equal(text, "temporary: its kind is being looked up");
	}
	assert_int_equal(get("one.more", "v1", "Thing", &kind, text), KIND_UNREAD);
	assert_string_equal(text,
		"wrong temporary: this namespace refers to too many API groups and versions that do not exist");
	assert_int_equal(get_for("bank", "one.else", "v1", "Thing", &kind, text), KIND_UNREAD);
	assert_string_equal(text, "temporary: its kind is being looked up");
	fakeloop_advance(400000); /* no one asked again */
	assert_int_equal(get("one.more", "v1", "Thing", &kind, text), KIND_UNREAD);
	assert_string_equal(text, "temporary: its kind is being looked up");
}

/* A kind that exists counts for no namespace, once it was seen. */
static void groups_that_are_there_have_no_end(void **state)
{
	struct kind kind;
	char group[64], path[96];

	(void)state;
	for (int i = 0; i < KINDS_MAX; i++) {
		snprintf(group, sizeof(group), "g%d.example.com", i);
		snprintf(path, sizeof(path), "/apis/%s/v1", group);
		fakecluster_serve(path,
			"{'kind':'APIResourceList','resources':["
			"{'name':'things','kind':'Thing','namespaced':true}]}");
		get(group, "v1", "Thing", &kind, NULL);
		fakeloop_advance(10);
		assert_int_equal(get(group, "v1", "Thing", &kind, NULL), KIND_PRESENT);
	}
}

static void the_limit_of_resources_is_reported(void **state)
{
	struct buf list = BUF_INIT(1000000);
	struct kind kind;
	char text[ERR_MSG_MAX];

	(void)state;
	buf_puts(&list, "{'kind':'APIResourceList','resources':[");
	for (int i = 0; i < 2001; i++)
		buf_printf(&list, "%s{'name':'r%d','kind':'K%d','namespaced':true}", i ? "," : "", i, i);
	buf_puts(&list, "]}");
	fakecluster_serve(ARGO, buf_text(&list));
	buf_done(&list);
	get("argoproj.io", "v1alpha1", "K1999", &kind, NULL);
	fakeloop_advance(10);
	assert_int_equal(get("argoproj.io", "v1alpha1", "K1999", &kind, NULL), KIND_PRESENT);
	assert_int_equal(get("argoproj.io", "v1alpha1", "K2000", &kind, text), KIND_MISSING);
	assert_string_equal(text,
		"missing: no kind K2000 among the first 2000 resources of argoproj.io/v1alpha1; more are not looked "
		"at");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(apps_are_known_without_asking),
		CASE(one_look_finds_all_of_a_group),
		CASE(the_core_group_and_foreign_deployments),
		CASE(a_crd_may_come_later_and_go_again),
		CASE(a_doubt_lasts),
		CASE(a_server_that_does_not_answer_is_asked_again),
		CASE(nonsense_is_no_list),
		CASE(a_scale_subresource_may_be_added),
		CASE(unrequested_kinds_are_dropped),
		CASE(there_is_an_end_to_groups),
		CASE(groups_that_are_there_have_no_end),
		CASE(the_limit_of_resources_is_reported),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
