/* SPDX-License-Identifier: Apache-2.0 */
/* The whole of `kscaled join` on a fake host and a fake cluster. */
#include "cli/commands.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../fakes/fakecluster.h"
#include "../host/fakehost.h"

#include "base/mem.h"
#include "cli/join/reach.h"
#include "control/certs/takennote.h"

#define APISERVICE "/apis/apiregistration.k8s.io/v1/apiservices/v1beta1.external.metrics.k8s.io"
#define METRICS    "/apis/external.metrics.k8s.io/v1beta1"
#define IN(ns)     "/api/v1/namespaces/" ns
#define SERVICE    IN("kscaled") "/services/kscaled"
#define ENDPOINTS  IN("kscaled") "/endpoints/kscaled"
#define SLICE      "/apis/discovery.k8s.io/v1/namespaces/kscaled/endpointslices/kscaled-host"
#define RBAC       "/apis/rbac.authorization.k8s.io/v1/"

#define DIRS "--config-dir=FOLDER/etc --state-dir=FOLDER/var"
#define HERE "--host=10.1.2.3:8443 " DIRS

#define OURS "'labels':{'app.kubernetes.io/name':'kscaled','app.kubernetes.io/part-of':'kscaled'}"

/* ---- The addresses of this machine ---- */

void __wrap_reach_look(const char *server, struct reach_facts *out);
void __wrap_reach_look(const char *server, struct reach_facts *out)
{
	assert_string_equal(server, "https://api.shop:6443");
	*out = (struct reach_facts){ 0 };
}

bool __wrap_reach_is_own_address(const char *address);
bool __wrap_reach_is_own_address(const char *address)
{
	return strcmp(address, "10.0.0.7") == 0;
}

size_t __wrap_reach_addrs(const struct reach_facts *facts, unsigned port, struct reach_addr out[REACH_MAX]);
size_t __wrap_reach_addrs(const struct reach_facts *facts, unsigned port, struct reach_addr out[REACH_MAX])
{
	const char *first = facts->node_address ? facts->node_address : "10.0.0.1";

	out[0] = (struct reach_addr){ .host = mem_printf("%s:%u", first, port), .why = "the first" };
	out[1] = (struct reach_addr){ .host = mem_printf("10.0.0.2:%u", port), .why = "the second" };
	return 2;
}

/* ---- Expectations ---- */

static void expect_output(const char *part)
{
	if (!strstr(fakehost.output, part))
		fail_msg("no \"%s\" in: %s", part, fakehost.output);
}

/* Nothing but reads so far, and no file. */
static void expect_no_change(void)
{
	MEM_AUTO char *token = fakehost_file("var/token"), *file = fakehost_file("etc/kubeconfig");

	assert_int_equal(fakecluster_writes(), fakecluster_calls(KUBE_LIST, ""));
	assert_null(token);
	assert_null(file);
}

static void available(const char *status)
{
	MEM_AUTO char *text = mem_printf("{'status':{'conditions':[{'type':'Available','status':'%s',"
					 "'reason':'FailedDiscoveryCheck','message':'no route'}]}}",
		status);

	if (fakecluster_get(APISERVICE))
		fakecluster_change(APISERVICE, text);
	fakecluster_serve(METRICS, *status == 'T' ? "{}" : NULL);
}

/* The API server reaches kscaled as soon as the address is the one that works. */
static const char *working;

static void try_to_reach(void)
{
	available(strcmp(fakecluster_text(SLICE, "endpoints.0.addresses.0"), working) == 0 ? "True" : "False");
}

static void join_ok(const char *arguments)
{
	if (fakehost_run(&cli_join_line, arguments) != 0)
		fail_msg("%s", fakehost.output);
}

/* A first join that works at 10.1.2.3. */
static void join_once(void)
{
	working = "10.1.2.3";
	fakehost.on_nap = try_to_reach;
	join_ok(HERE);
	fakecluster_forget_calls();
}

/* ---- Arguments ---- */

static void invalid_arguments_change_nothing(void **state)
{
	static const struct {
		const char *arguments, *message;
	} rows[] = {
		{ "--port=0", "--port" },
		{ "--port=65536", "--port" },
		{ "--port=x", "--port" },
		{ "--wait=-1s", "--wait" },
		{ "--wait=2h", "--wait" },
		{ "--config-dir=etc", "is not an absolute path" },
		{ "--state-dir=var", "is not an absolute path" },
		{ "--host=nowhere", "--host" },
		{ "--namespace=Upper", "--namespace" },
		{ "--nonsense", "--help" },
		{ "more", "unexpected argument \"more\"" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		if (fakehost_run(&cli_join_line, rows[i].arguments) != 2)
			fail_msg("%s: %s", rows[i].arguments, fakehost.output);
		expect_output(rows[i].message);
		assert_int_equal(fakecluster_calls(FAKECLUSTER_ANY, ""), 0);
	}
}

static void help_needs_no_cluster(void **state)
{
	(void)state;
	join_ok("--kubeconfig=/nonexistent --help");
	expect_output("--take-apiservice");
	assert_int_equal(fakehost_run(&cli_join_line, "--kubeconfig=/nonexistent"), 1);
	expect_output("/nonexistent");
}

static void a_dry_run_changes_nothing(void **state)
{
	(void)state;
	join_ok(HERE " --dry-run");
	expect_output("would use address 10.1.2.3:8443 (given by --host)");
	expect_output("would apply Service kscaled/kscaled");
	expect_output("/etc/kubeconfig");
	expect_output("kscaled would listen on port 8443");
	expect_output("would enable and start kscaled.service");
	expect_no_change();
	assert_string_equal(fakehost.systemctl, "");
}

/* ---- A join that works ---- */

static void cluster_and_host_are_set_up(void **state)
{
	(void)state;
	join_once();
	expect_output("the API server reaches kscaled at 10.1.2.3:8443");
	expect_output("no ScaledObject has a metric yet");
	assert_string_equal(fakecluster_text(SERVICE, "spec.type"), "ClusterIP");
	assert_string_equal(fakecluster_text(SLICE, "endpoints.0.addresses.0"), "10.1.2.3");
	assert_string_equal(fakecluster_text(APISERVICE, "spec.service.name"), "kscaled");
	assert_non_null(fakecluster_get(RBAC "clusterroles/kscaled"));
	assert_string_equal(fakehost.systemctl, "enable kscaled.service, restart kscaled.service, ");
	{
		MEM_AUTO char *token = fakehost_file("var/token"), *file = fakehost_file("etc/kubeconfig"),
			      *environment = fakehost_file("etc/join.env");

		assert_non_null(strstr(token, "token-1 of kscaled"));
		assert_non_null(strstr(file, "https://api.shop:6443"));
		assert_null(strstr(file, "admins")); /* the administrator's own token */
		assert_null(strstr(fakehost.output, "token-1"));
		assert_non_null(strstr(environment, "--host=10.1.2.3:8443"));
	}
}

static void a_second_run_repairs_what_is_missing(void **state)
{
	(void)state;
	join_once();
	fakecluster_delete(RBAC "clusterroles/kscaled");
	join_ok(HERE);
	assert_non_null(fakecluster_get(RBAC "clusterroles/kscaled"));
	assert_int_equal(fakecluster_calls(KUBE_DELETE, ""), 0);
	assert_int_equal(fakecluster_calls(KUBE_MERGE_PATCH, ""), 0);
	/* An immediate answer may still come by the previous address. */
	assert_true(fakehost.naps >= 3);
}

static void rights_of_earlier_options_are_removed(void **state)
{
	(void)state;
	join_once();
	fakecluster_apply(RBAC "clusterroles/others-jobs", "{}");
	assert_non_null(fakecluster_get(RBAC "clusterroles/kscaled-jobs"));
	join_ok(HERE " --no-scaledjobs");
	assert_null(fakecluster_get(RBAC "clusterroles/kscaled-jobs"));
	assert_null(fakecluster_get(RBAC "clusterrolebindings/kscaled-jobs"));
	assert_non_null(fakecluster_get(RBAC "clusterroles/others-jobs"));
}

static void without_a_start_nothing_is_awaited(void **state)
{
	(void)state;
	join_ok(HERE " --no-start");
	expect_output("start kscaled with: systemctl enable --now kscaled");
	assert_string_equal(fakehost.systemctl, "");
	assert_int_equal(fakehost.naps, 0);
	fakehost.systemd = false;
	join_ok(HERE " --wait=0s");
	expect_output("kscaled run, see kscaled(8)");
}

static void the_next_address_is_tried(void **state)
{
	(void)state;
	working = "10.0.0.2";
	fakehost.on_nap = try_to_reach;
	join_ok(DIRS " --port=9443 --wait=2s");
	expect_output("not reached at 10.0.0.1:9443: FailedDiscoveryCheck: no route");
	expect_output("the API server reaches kscaled at 10.0.0.2:9443");
	assert_string_equal(fakecluster_text(SLICE, "endpoints.0.addresses.0"), "10.0.0.2");
	assert_int_equal(fakecluster_number(SLICE, "ports.0.port"), 9443);
	expect_output("kscaled listens on port 9443 here");
	/* What has no address is applied once. */
	assert_int_equal(fakecluster_calls(KUBE_APPLY, RBAC "clusterroles/kscaled?"), 1);
}

static void the_address_of_a_node_is_known(void **state)
{
	(void)state;
	fakecluster_apply("/api/v1/nodes/other",
		"{'status':{'addresses':[{'type':'InternalIP','address':'192.0.2.9'}]}}");
	fakecluster_apply("/api/v1/nodes/here",
		"{'status':{'addresses':[{'type':'Hostname','address':'10.0.0.7'},"
		"{'type':'InternalIP','address':'10.0.0.7'}]}}");
	join_ok(DIRS " --dry-run");
	expect_output("would use address 10.0.0.7:8443");
	expect_output("would try next 10.0.0.2:8443");
}

static void a_forwarded_port_is_named(void **state)
{
	(void)state;
	join_ok("--host=10.1.2.3:443 --wait=0s " DIRS);
	expect_output("kscaled listens on port 8443 here (change it with --port): port 443 of 10.1.2.3 must be "
		      "forwarded");
}

/* ---- Another owner's objects ---- */

static void anothers_apiservice_is_kept(void **state)
{
	(void)state;
	fakecluster_apply(APISERVICE, "{'spec':{'service':{'namespace':'keda','name':'keda-metrics'}}}");
	fakecluster_forget_calls();
	assert_int_equal(fakehost_run(&cli_join_line, HERE), 1);
	expect_output("belongs to Service keda/keda-metrics");
	expect_output("--take-apiservice");
	expect_no_change();
}

static void a_taken_apiservice_has_a_note(void **state)
{
	json_t *note;

	(void)state;
	fakecluster_apply(APISERVICE,
		"{'metadata':{'labels':{'app.kubernetes.io/managed-by':'Helm'},"
		"'annotations':{'meta.helm.sh/release-name':'keda','meta.helm.sh/release-namespace':'keda'}},"
		"'spec':{'service':{'namespace':'keda','name':'keda-metrics'}}}");
	working = "10.1.2.3";
	fakehost.on_nap = try_to_reach;
	join_ok(HERE " --take-apiservice");
	expect_output("taking APIService v1beta1.external.metrics.k8s.io from Service keda/keda-metrics");
	assert_string_equal(fakecluster_text(APISERVICE, "spec.service.name"), "kscaled");
	note = json_deep_copy(json_object_get(fakecluster_at(APISERVICE, "metadata.annotations"), TAKENNOTE));
	assert_true(json_is_string(note));
	assert_non_null(strstr(json_string_value(note), "keda-metrics"));
	/* It stays labelled as the other owner's, and a second run keeps the note. */
	assert_null(json_object_get(fakecluster_at(APISERVICE, "metadata.labels"), "app.kubernetes.io/part-of"));
	join_ok(HERE);
	assert_true(json_equal(json_object_get(fakecluster_at(APISERVICE, "metadata.annotations"), TAKENNOTE), note));
	assert_non_null(strstr(fakecluster_last_body(KUBE_APPLY, APISERVICE), TAKENNOTE));
	json_decref(note);
}

static void anothers_service_is_not_replaced(void **state)
{
	(void)state;
	fakecluster_apply(SERVICE, "{'spec':{'type':'ExternalName','externalName':'elsewhere'}}");
	fakecluster_forget_calls();
	assert_int_equal(fakehost_run(&cli_join_line, HERE), 1);
	expect_output("Service kscaled/kscaled belongs to another installation");
	expect_output("give another --service-name");
	expect_no_change();
}

/* ---- From an address to a name, and back ---- */

static void a_name_has_no_endpoints(void **state)
{
	(void)state;
	join_once();
	join_ok("--host=k.example:8443 --wait=0s " DIRS);
	assert_string_equal(fakecluster_text(SERVICE, "spec.externalName"), "k.example");
	assert_null(fakecluster_get(SLICE));
	assert_null(fakecluster_get(ENDPOINTS));
	/* Endpoints of another owner stay. */
	fakecluster_apply(ENDPOINTS, "{'subsets':[]}");
	join_ok("--host=k.example:8443 --wait=0s " DIRS);
	assert_non_null(fakecluster_get(ENDPOINTS));
}

static void a_service_of_a_name_becomes_one_of_an_address(void **state)
{
	(void)state;
	join_ok("--host=k.example:8443 --wait=0s " DIRS);
	fakecluster_change(SERVICE, "{'spec':{'clusterIP':''}}");
	join_ok(HERE " --wait=0s");
	assert_string_equal(fakecluster_text(SERVICE, "spec.type"), "ClusterIP");
	assert_null(fakecluster_at(SERVICE, "spec.externalName"));
	assert_null(fakecluster_at(SERVICE, "spec.clusterIP")); /* the server assigns it */
	/* Another family of addresses: a slice cannot change its type. */
	fakecluster_forget_calls();
	join_ok("--host=[fd00::1]:8443 --wait=0s " DIRS);
	assert_int_equal(fakecluster_calls(KUBE_DELETE, SLICE), 1);
	assert_string_equal(fakecluster_text(SLICE, "addressType"), "IPv6");
}

/* ---- Failures ---- */

static void without_its_user_nothing_is_changed(void **state)
{
	(void)state;
	fakehost.user = false;
	assert_int_equal(fakehost_run(&cli_join_line, HERE), 1);
	expect_output("user kscaled, which kscaled.service runs as, does not exist");
	expect_no_change();
	join_ok(HERE " --no-start");
	expect_output("warning: user kscaled");
}

static void a_token_is_needed(void **state)
{
	MEM_AUTO char *file = NULL;

	(void)state;
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_REVIEW, "/token", 1, 403);
	assert_int_equal(fakehost_run(&cli_join_line, HERE), 1);
	expect_output("token of ServiceAccount kscaled/kscaled: HTTP 403");
	fakecluster_fail(FAKECLUSTER_EMPTY, KUBE_REVIEW, "/token", 1, 0);
	assert_int_equal(fakehost_run(&cli_join_line, HERE), 1);
	expect_output("token of ServiceAccount kscaled/kscaled: the API server returned no token");
	file = fakehost_file("etc/kubeconfig");
	assert_null(file);
	assert_string_equal(fakehost.systemctl, "");
}

static void a_failing_apply_names_the_object(void **state)
{
	(void)state;
	fakecluster_fail(FAKECLUSTER_REFUSE, KUBE_APPLY, "/clusterroles/kscaled-scale", 1, 403);
	assert_int_equal(fakehost_run(&cli_join_line, HERE), 1);
	expect_output("applying ClusterRole kscaled-scale");
}

static void a_service_that_does_not_start_shows_its_log(void **state)
{
	(void)state;
	fakehost.broken = true;
	assert_int_equal(fakehost_run(&cli_join_line, HERE), 1);
	expect_output("kscaled.service does not start");
	expect_output("  one line\n  another line\n");
	assert_int_equal(fakehost.naps, 0);
}

static void waiting_has_an_end(void **state)
{
	(void)state;
	working = "10.9.9.9";
	fakehost.on_nap = try_to_reach;
	assert_int_equal(fakehost_run(&cli_join_line, HERE " --wait=5s"), 1);
	expect_output("the API server does not reach kscaled");
	expect_output("port 8443");
	assert_in_range(fakehost.naps, 9, 11);
}

/* The condition is still the one of before, but the metrics cannot be fetched. */
static void an_old_condition_is_not_enough(void **state)
{
	(void)state;
	fakecluster_apply(APISERVICE,
		"{'metadata':{" OURS "},'spec':{'service':{'namespace':'kscaled','name':'kscaled'}},"
		"'status':{'conditions':[{'type':'Available','status':'True'}]}}");
	assert_int_equal(fakehost_run(&cli_join_line, HERE " --wait=2s"), 1);
	expect_output("not reached at 10.1.2.3:8443");
}

static void a_working_state_is_restored(void **state)
{
	MEM_AUTO char *before = NULL, *after = NULL;

	(void)state;
	join_once();
	before = fakehost_file("etc/join.env");
	assert_int_equal(fakehost_run(&cli_join_line, "--host=10.7.7.7:8443 --no-scaledjobs --wait=2s " DIRS), 1);
	expect_output("the API server does not reach kscaled");
	expect_output("restored the previous state: the API server reaches kscaled at 10.1.2.3:8443 again");
	assert_string_equal(fakecluster_text(SLICE, "endpoints.0.addresses.0"), "10.1.2.3");
	assert_non_null(fakecluster_get(RBAC "clusterroles/kscaled-jobs"));
	after = fakehost_file("etc/join.env");
	assert_string_equal(before, after);
	assert_string_equal(fakehost.systemctl,
		"enable kscaled.service, restart kscaled.service, restart kscaled.service, ");
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, fakehost_setup, fakehost_teardown)
	const struct CMUnitTest tests[] = {
		CASE(invalid_arguments_change_nothing),
		CASE(help_needs_no_cluster),
		CASE(a_dry_run_changes_nothing),
		CASE(cluster_and_host_are_set_up),
		CASE(a_second_run_repairs_what_is_missing),
		CASE(rights_of_earlier_options_are_removed),
		CASE(without_a_start_nothing_is_awaited),
		CASE(the_next_address_is_tried),
		CASE(the_address_of_a_node_is_known),
		CASE(a_forwarded_port_is_named),
		CASE(anothers_apiservice_is_kept),
		CASE(a_taken_apiservice_has_a_note),
		CASE(anothers_service_is_not_replaced),
		CASE(a_name_has_no_endpoints),
		CASE(a_service_of_a_name_becomes_one_of_an_address),
		CASE(without_its_user_nothing_is_changed),
		CASE(a_token_is_needed),
		CASE(a_failing_apply_names_the_object),
		CASE(a_service_that_does_not_start_shows_its_log),
		CASE(waiting_has_an_end),
		CASE(an_old_condition_is_not_enough),
		CASE(a_working_state_is_restored),
	};
#undef CASE

	return cmocka_run_group_tests_name("cli/join/join", tests, NULL, NULL);
}
