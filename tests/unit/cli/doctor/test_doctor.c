/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All checks, on given facts: a good chain, and one fact changed at a time.
 * tests/live/test_doctor.py has a real API server.
 */
#include "cli/doctor/doctor.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>
#include <config.h> /* configure's; in quotes it would be the one of another room */

#include "base/base64.h"
#include "base/json.h"
#include "base/mem.h"
#include "cli/doctor/release.h"
#include "net/tls/x509.h"

#define NOW_MS INT64_C(1790000000000) /* 2026-09-21T14:13:20Z */
#define DAY_S  INT64_C(86400)

/* Quotes are apostrophes; CA, BUNDLE and SERVING are certificates. */
#define SERVICE                                                                                                        \
	"'service': {'object': {'spec': {'type': 'ClusterIP', 'clusterIP': '10.0.0.9', 'ports': [{'name': 'https', "   \
	"'port': 443, 'targetPort': 8443}]}}}"
#define EXTERNAL_NAME                                                                                                  \
	"'service': {'object': {'spec': {'type': 'ExternalName', 'externalName': 'host.example', 'ports': [{'name': "  \
	"'https', 'port': 8443}]}}}"
#define SLICE(conditions, port)                                                                                        \
	"'endpointslices': {'object': {'items': [{'metadata': {'name': 'kscaled-host'}, 'endpoints': [{'addresses': "  \
	"['192.0.2.7'], 'conditions': {'ready': " conditions "}}], 'ports': [{'name': '" port "'}]}]}}"
#define APISERVICE(service, condition)                                                                                 \
	"'apiservice': {'object': {'spec': {'caBundle': 'BUNDLE', 'service': {" service                                \
	", 'port': 443}}, 'status': {'conditions': [{'type': 'Available', " condition "}]}}}"
#define OUR_SERVICE "'namespace': 'kscaled', 'name': 'kscaled'"
#define CRD(name)                                                                                                      \
	"'crd " name                                                                                                   \
	"': {'object': {'metadata': {'labels': {'app.kubernetes.io/name': 'kscaled', 'app.kubernetes.io/version': "    \
	"'VERSION'}}, 'spec': {'versions': [{'name': 'v1alpha1', 'served': true}]}, 'status': {'conditions': "         \
	"[{'type': 'Established', 'status': 'True'}]}}}"
#define WEBHOOKS(more)                                                                                                 \
	"'webhooks': {'object': {'webhooks': [{'name': 'vso', 'clientConfig': {'service': {" OUR_SERVICE               \
	"}, 'caBundle': 'BUNDLE'}" more "}]}}"
#define LEASE(fact, holder, renewed)                                                                                   \
	"'" fact "': {'object': {'spec': {'holderIdentity': '" holder                                                  \
	"', 'leaseDurationSeconds': 15, 'renewTime': '1970-01-01T00:00:00Z'}}, 'watched_ms': 15500, "                  \
	"'renewed': " renewed "}"
#define POD(status)                                                                                                    \
	"{'metadata': {'name': 'kscaled-1', 'creationTimestamp': '2026-09-01T00:00:00Z'}, 'spec': {'nodeName': 'n'}, " \
	"'status': {" status "}}"
#define PODS(pod) "'pods': {'object': {'items': [" pod "]}}"
#define READY     POD("'phase': 'Running', 'conditions': [{'type': 'Ready', 'status': 'True'}]")
#define WAITS(state)                                                                                                   \
	POD("'phase': 'Pending', 'containerStatuses': [{'name': 'kscaled', 'image': 'r/kscaled:1', " state "}]")
#define OBJECTS(condition)                                                                                             \
	"'scaledobjects': {'object': {'items': [{'metadata': {'namespace': 'shop', 'name': 'web', "                    \
	"'creationTimestamp': '2026-09-01T00:00:00Z'}, 'spec': {'scaleTargetRef': {'name': 'web'}}, 'status': "        \
	"{'conditions': [" condition "]}}]}}"
#define HPA(more)                                                                                                      \
	"'hpas': {'object': {'items': [{'metadata': {'namespace': 'shop', 'name': 'hpa'" more                          \
	"}, 'spec': {'scaleTargetRef': {'apiVersion': 'apps/v1', 'kind': 'Deployment', 'name': 'web'}}}]}}"
#define BINDING(kind, name, more)                                                                                      \
	"{'kind': '" kind "', 'metadata': {'name': '" name "'" more                                                    \
	", 'labels': {'app.kubernetes.io/name': 'kscaled'}}}"
#define CONFIG(more) "'kubeconfig': {'object': {'source': 'kubeconfig k, context c', 'server': 'https://api' " more "}}"
#define DENIED       "{'error': 'denied', 'message': 'no', 'wanted': 'get on it'}"
#define LACKS        "{'error': 'missing', 'message': 'no'}"

/* A good chain. */
static const char *const fine[] = {
	CONFIG(", 'token': {'subject': 'system:serviceaccount:kscaled:kscaled', 'issued_ms': 1789999000000, "
	       "'until_ms': "
	       "1790010000000}"),
	"'version': {'object': {'major': '1', 'minor': '32', 'gitVersion': 'v1.32.1', 'date_ms': 1790000000000, "
	"'asked_ms': 1790000000900}}",
	"'rights': {'object': {'account': 'a', 'asked': 77, 'missing': [], 'not_asked': []}}",
	"'roles': " LACKS,
	"'deployment': " LACKS,
	CRD("scaledobjects"),
	CRD("scaledjobs"),
	CRD("triggerauthentications"),
	CRD("clustertriggerauthentications"),
	SERVICE,
	"'endpoints': {'object': {}}",
	SLICE("true", "https"),
	APISERVICE(OUR_SERVICE, "'status': 'True'"),
	"'certificates': {'object': {'ca': 'CA', 'serving': 'SERVING'}}",
	"'request-header': {'object': {'data': {'requestheader-client-ca-file': 'CA', "
	"'requestheader-username-headers': '[\\'X-Remote-User\\']'}}}",
	"'discovery': {'object': {}}",
	"'metric': {'of': 'shop/web', 'object': {'items': [{'metricName': 's0', 'value': '7'}]}}",
	WEBHOOKS(""),
	"'trial': {'error': 'denied', 'message': 'admission webhook \\'vscaledobject.kscaled.io\\' denied the request: "
	"x'}",
	LEASE("lease", "host_1", "true"),
	"'keda-lease': " LACKS,
	"'keda-deployment': " LACKS,
	OBJECTS("{'type': 'Ready', 'status': 'True'}"),
	"'scaledjobs': {'object': {'items': []}}",
	HPA(", 'ownerReferences': [{'kind': 'ScaledObject', 'name': 'web'}]"),
};

static char *ca, *serving, *bundle;

static int setup(void **state)
{
	static const char *const names[] = { "kscaled.kscaled.svc", NULL };
	struct x509_pair authority, leaf;
	struct err err;

	(void)state;
	if (x509_make_ca("authority", names, NOW_MS, 3650 * DAY_S, &authority, &err) < 0 ||
		x509_make_serving(&authority, names, NOW_MS, 365 * DAY_S, &leaf, &err) < 0)
		return -1;
	ca = mem_dup(authority.cert_pem);
	serving = mem_dup(leaf.cert_pem);
	bundle = base64_encode(ca, strlen(ca));
	x509_pair_done(&authority);
	x509_pair_done(&leaf);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	free(ca);
	free(serving);
	free(bundle);
	return 0;
}

static void put_text(struct buf *out, const char *text)
{
	for (; *text; text++)
		if (*text == '\n')
			buf_puts(out, "\\n");
		else
			buf_putc(out, *text);
}

static json_t *facts_of(const char *text)
{
	const struct {
		const char *word, *text;
	} words[] = { { "'CA'", ca }, { "'SERVING'", serving }, { "'BUNDLE'", bundle },
		{ "'VERSION'", PACKAGE_VERSION } };
	struct buf out = BUF_INIT(1 << 20);
	struct err err;
	json_t *facts;

	while (*text) {
		size_t i = 0;

		while (i < MEM_COUNT(words) && strncmp(text, words[i].word, strlen(words[i].word)) != 0)
			i++;
		if (i < MEM_COUNT(words)) {
			buf_putc(&out, '"');
			put_text(&out, words[i].text);
			buf_putc(&out, '"');
			text += strlen(words[i].word);
			continue;
		}
		/* \' is a quote in a text */
		if (text[0] == '\\' && text[1] == '\'') {
			buf_puts(&out, "\\\"");
			text += 2;
			continue;
		}
		buf_putc(&out, *text == '\'' ? '"' : *text);
		text++;
	}
	facts = json_parse(buf_text(&out), out.len, &err);
	if (!facts)
		fail_msg("%s: %s", err.msg, buf_text(&out));
	buf_done(&out);
	return facts;
}

static const struct doctor_setup usual = { .manifests = { .namespace_ = "kscaled", .service_name = "kscaled" },
	.kubeconfig = "k",
	.lease_name = "operator.keda.sh",
	.keda_namespace = "keda",
	.secure_port = 8443 };

static void visit(const struct doctor_setup *s, const char *changed, struct diagnosis *out)
{
	json_t *facts = json_object(), *change = facts_of(changed);
	struct doctor_setup known = *s;

	for (size_t i = 0; i < MEM_COUNT(fine); i++) {
		MEM_AUTO char *text = mem_printf("{%s}", fine[i]);
		json_t *fact = facts_of(text);

		json_object_update(facts, fact);
		json_decref(fact);
	}
	json_object_update(facts, change);
	release_read_kubeconfig(&known, facts);
	release_read(&known, facts);
	doctor_check(&known, facts, NOW_MS, out);
	json_decref(facts);
	json_decref(change);
}

static const struct diagnosis_line *first_of(const struct diagnosis *d, const char *hop, enum diagnosis_status status)
{
	for (size_t i = 0; i < d->count; i++)
		if (strcmp(d->list[i].hop, hop) == 0 && d->list[i].status == status)
			return &d->list[i];
	return NULL;
}

static void print(const struct diagnosis *d)
{
	struct buf text = BUF_INIT(1 << 20);

	diagnosis_text(d, &text);
	fprintf(stderr, "%s", buf_text(&text));
	buf_done(&text);
}

/* Fails the test if there is none. */
static struct diagnosis_line the_first_of(const struct diagnosis *d, const char *hop, enum diagnosis_status status)
{
	const struct diagnosis_line *line = first_of(d, hop, status);

	if (!line) {
		print(d);
		fail_msg("%s says nothing of status %d", hop, status);
	}
	return line ? *line : (struct diagnosis_line){ .hop = hop, .status = status };
}

static void no_findings_without_faults(void **state)
{
	struct diagnosis d = { 0 };

	(void)state;
	visit(&usual, "{}", &d);
	if (diagnosis_worst(&d, NULL) != DIAGNOSIS_OK)
		print(&d);
	assert_int_equal(diagnosis_worst(&d, NULL), DIAGNOSIS_OK);
	diagnosis_done(&d);
}

#define OK   DIAGNOSIS_OK
#define SKIP DIAGNOSIS_SKIPPED
#define WARN DIAGNOSIS_WARNING
#define BAD  DIAGNOSIS_ERROR
#define OURS "kscaled manifests --host 192.0.2.7:8443 | kubectl apply -f -"

static const struct example {
	const char *hop, *changed;
	enum diagnosis_status status;
	const char *says, *mend; /* NULL: none */
} examples[] = {
	{ "kubeconfig", "'kubeconfig': {'error': 'missing', 'message': 'kubeconfig: k: No such file or directory'}",
		BAD, "No such file", "kscaled join" },
	{ "kubeconfig", "'kubeconfig': {'error': 'invalid', 'message': 'k: Permission denied'}", BAD,
		"Permission denied", "sudo kscaled doctor --kubeconfig k" },
	{ "kubeconfig", "'kubeconfig': {'error': 'invalid', 'message': 'user x: exec: credential plugins'}", BAD,
		"exec",
		"token=$(kubectl --kubeconfig k -n kscaled create token kscaled --duration 24h) && (umask 077; "
		"kubectl --kubeconfig k config view --minify --flatten --raw >KUBECONFIG) && kubectl --kubeconfig "
		"KUBECONFIG config set-credentials kscaled --token \"$token\" && kubectl --kubeconfig KUBECONFIG "
		"config set-context --current --user kscaled && kscaled doctor --kubeconfig KUBECONFIG" },
	{ "kubeconfig", "'kubeconfig': {'error': 'missing', 'message': '/ca.crt: No such file or directory'}", BAD,
		"/ca.crt", "kubectl --kubeconfig k config view" },
	{ "kubeconfig", "'kubeconfig': {'error': 'invalid', 'message': 'line 3: no YAML'}", BAD, "line 3",
		"kubectl --kubeconfig k config view" },
	{ "credentials", CONFIG(""), WARN, "neither a token nor", "kscaled join" },
	{ "credentials", CONFIG(", 'certificate': {'unreadable': 'no PEM'}"), BAD, "no PEM", "kubeadm certs renew" },
	{ "credentials", CONFIG(", 'certificate': {'cn': 'admin', 'from_ms': 1, 'until_ms': 1789999999000}"), BAD,
		"\"admin\" expired at 2026-09-21T14:13:19Z", "kscaled join" },
	{ "credentials",
		CONFIG(", 'certificate': {'cn': 'admin', 'from_ms': 1790009000000, 'until_ms': 1890000000000}"), BAD,
		"not valid before 2026-09-21T16:43:20Z", "sudo timedatectl set-ntp true" },
	{ "credentials",
		CONFIG(", 'token_file': '/t', 'token': {'subject': 'system:serviceaccount:ns:me', 'issued_ms': 1, "
		       "'until_ms': "
		       "2}"),
		BAD, "token of system:serviceaccount:ns:me expired",
		"kubectl -n ns create token me --duration 24h >/t" },
	{ "credentials", CONFIG(", 'token': {'subject': '', 'issued_ms': 0, 'until_ms': 0}"), OK, "does not expire",
		NULL },
	{ "credentials",
		CONFIG(", 'token': {'subject': 'system:serviceaccount:ns:me', 'issued_ms': 1789990000000, 'until_ms': "
		       "1790000100000}"),
		WARN, "expires soon",
		"token=$(kubectl -n ns create token me --duration 24h) && kubectl config set-credentials USER "
		"--kubeconfig k --token \"$token\"" },
	{ "api-server", "'version': {'error': 'temporary', 'message': 'connect: Connection refused'}", BAD, "refused",
		"`kubectl config set-cluster CLUSTER --kubeconfig k --server URL`" },
	{ "api-server",
		CONFIG(", 'cluster': 'a b', 'user': 'u'") ", 'version': {'error': 'temporary', 'message': "
							  "'the name cannot be looked up'}",
		BAD, "looked up", "kubectl config set-cluster 'a b' --kubeconfig k --server URL" },
	{ "api-server", "'version': {'error': 'temporary', 'message': 'certificate has expired'}", BAD, "expired",
		"`sudo kubeadm certs renew apiserver`" },
	{ "api-server", "'version': {'error': 'temporary', 'message': 'certificate is not yet valid'}", BAD,
		"not yet valid", "sudo timedatectl set-ntp true" },
	{ "api-server", "'version': {'error': 'denied', 'message': 'HTTP 401: Unauthorized'}", BAD, "does not accept",
		"kubectl -n kscaled create token kscaled" },
	{ "api-server", "'version': {'object': {'major': '1', 'minor': '24', 'gitVersion': 'v1.24.0'}}", WARN, "older",
		"1.25" },
	{ "api-server", "'version': {'object': {'major': '1', 'minor': '37+', 'gitVersion': 'v1.37.0'}}", WARN, "newer",
		"newer kscaled" },
	{ "clock",
		"'version': {'object': {'major': '1', 'minor': '32', 'date_ms': 1790000000000, 'asked_ms': "
		"1790000090000}}",
		BAD, "90 seconds ahead of", "sudo timedatectl set-ntp true" },
	{ "clock",
		"'version': {'object': {'major': '1', 'minor': '32', 'date_ms': 1790000000000, 'asked_ms': "
		"1789999990000}}",
		WARN, "10 seconds behind", "sudo timedatectl set-ntp true" },
	{ "clock", "'version': {'object': {'major': '1', 'minor': '32', 'date_ms': 0}}", SKIP, "sends no Date", NULL },
	{ "rights",
		"'rights': {'object': {'account': 'a', 'asked': 2, 'missing': [{'account': 'a', 'role': "
		"'kscaled-jobs', "
		"'attributes': {'verb': 'list', 'group': 'batch', 'resource': 'jobs'}}, {'account': 'a', 'role': "
		"'kscaled-jobs', 'attributes': {'verb': 'get', 'group': '', 'resource': 'pods', 'subresource': 'log', "
		"'name': "
		"'x', 'namespace': 'shop'}}]}}",
		BAD,
		"a may not list jobs.batch, get pods/log \"x\" in shop: role kscaled-jobs (if that is intended: "
		"kscaled doctor "
		"--no-scaledjobs)",
		OURS },
	/* A whole role that may have been omitted on purpose. */
	{ "rights",
		"'rights': {'object': {'account': 'a', 'asked': 1, 'missing': [{'account': 'a', 'role': "
		"'kscaled-jobs', 'attributes': {}}], 'needed': [{'account': 'a', 'role': 'kscaled-jobs'}]}}",
		SKIP, "role kscaled-jobs is incomplete, as with --no-scaledjobs", NULL },
	{ "rights", "'rights': " DENIED, SKIP, "needs get on it", NULL },
	{ "rights", "'roles': {'object': [" BINDING("RoleBinding", "kscaled-secrets", ", 'namespace': 'shop'") "]}",
		WARN,
		"rolebindings shop/kscaled-secrets grants more than the options call for: see --restrict-secret-access",
		"kubectl -n shop delete rolebindings kscaled-secrets" },
	{ "rights", "'roles': {'object': [" BINDING("ClusterRoleBinding", "kscaled-old", "") "]}", WARN,
		"clusterrolebindings kscaled-old grants more than the options call for",
		"kubectl delete clusterrolebindings kscaled-old" },
	{ "rights", "'roles': " DENIED, SKIP, "needs get on it", NULL },
	{ "crds", "'crd scaledjobs': " LACKS, BAD, "scaledjobs.keda.sh is missing", OURS },
	{ "crds", "'crd scaledjobs': " DENIED, SKIP, "needs get on it", NULL },
	{ "crds",
		"'crd scaledjobs': {'object': {'status': {'conditions': [{'type': 'Established', 'status': "
		"'False'}]}}}",
		BAD, "is not established", "kubectl describe crd scaledjobs.keda.sh" },
	{ "crds",
		"'crd scaledjobs': {'object': {'spec': {'versions': [{'name': 'v1alpha1', 'served': false}]}, "
		"'status': "
		"{'conditions': [{'type': 'Established', 'status': 'True'}]}}}",
		BAD, "is not served as v1alpha1", OURS },
	{ "crds",
		"'crd scaledjobs': {'object': {'spec': {'versions': [{'name': 'v1alpha1', 'served': true}]}, 'status': "
		"{'conditions': [{'type': 'Established', 'status': 'True'}]}}}",
		OK, "1 of 4 have KEDA's schema", NULL },
	{ "service", "'service': " LACKS, BAD, "Service kscaled/kscaled does not exist",
		"kscaled manifests --host HOST:8443 |" },
	{ "service", "'service': {'error': 'temporary', 'message': 'etcd'}", BAD, "could not be read: etcd", NULL },
	{ "service", "'service': {'object': {'spec': {'type': 'ClusterIP', 'ports': [{'port': 80}]}}}", BAD,
		"no port 443", "kscaled manifests" },
	{ "endpoints", "'endpointslices': {'object': {'items': []}}", BAD, "no ready endpoint", "kscaled manifests" },
	{ "endpoints", SLICE("false", "https"), BAD, "no ready endpoint", OURS },
	{ "endpoints", SLICE("true", ""), BAD, "EndpointSlice kscaled-host has no port named \"https\"", OURS },
	{ "endpoints", EXTERNAL_NAME, OK, "resolves host.example itself", NULL },
	{ "endpoints", "'endpoints': " LACKS, BAD, "no Endpoints kscaled/kscaled", OURS },
	{ "endpoints",
		"'deployment': {'object': {}}, " PODS(
			READY) ", 'endpointslices': {'object': {'items': []}}, 'service': {'object': "
			       "{'spec': "
			       "{'selector': {'a': 'b'}, 'ports': [{'port': 443}]}}}",
		BAD, "no ready endpoint", "kubectl -n kscaled rollout restart deployment/kscaled" },
	{ "apiservice", "'apiservice': " LACKS, BAD, "no APIService", OURS },
	{ "apiservice", APISERVICE("'namespace': 'keda', 'name': 'adapter'", "'status': 'True'"), BAD,
		"names Service keda/adapter", "\"namespace\":\"kscaled\",\"name\":\"kscaled\",\"port\":443" },
	{ "apiservice", "'apiservice': {'object': {'spec': {}}}, " EXTERNAL_NAME, BAD, "names no Service",
		"\"port\":8443" },
	{ "routing",
		EXTERNAL_NAME ", " APISERVICE(OUR_SERVICE,
			"'status': 'False', 'message': 'unsupported service type \\'ExternalName\\''"),
		BAD, "not support ExternalName", "--host ADDRESS:PORT" },
	{ "routing", APISERVICE(OUR_SERVICE, "'status': 'False', 'message': 'from https://10.0.0.9:443/apis: timeout'"),
		WARN, "cluster IP 10.0.0.9", "--enable-aggregator-routing=true" },
	{ "routing",
		APISERVICE(OUR_SERVICE, "'status': 'False', 'message': 'from https://192.0.2.7:8443/apis: timeout'"),
		OK, "the Service's address", NULL },
	{ "ca-bundle", "'certificates': {'object': {'ca': 'SERVING', 'serving': 'SERVING'}}", BAD, "lacks kscaled's CA",
		"kubectl -n kscaled get secret kscaled-certs" },
	{ "ca-bundle", "'apiservice': {'object': {'spec': {'service': {" OUR_SERVICE "}}}}", BAD, "has no caBundle",
		"kubectl patch apiservice" },
	{ "ca-bundle", "'certificates': " LACKS, BAD, "no CA in", "systemctl restart kscaled" },
	{ "ca-bundle", "'certificates': " LACKS ", 'deployment': {'object': {}}, " PODS(READY) "", BAD, "no CA in",
		"kubectl -n kscaled rollout restart deployment/kscaled" },
	{ "ca-bundle", "'certificates': " DENIED, SKIP, "needs get on it", NULL },
	{ "request-header", "'request-header': {'object': {'data': {}}}", BAD,
		"requestheader-client-ca-file: is not there", "`--requestheader-client-ca-file=CA --requestheader-" },
	{ "request-header",
		"'request-header': {'object': {'data': {'requestheader-client-ca-file': 'CA', "
		"'requestheader-username-headers': '[]'}}}",
		BAD, "requestheader-username-headers: names no header",
		" --requestheader-username-headers=X-Remote-User " },
	{ "request-header",
		"'request-header': {'object': {'data': {'requestheader-client-ca-file': 'x', "
		"'requestheader-username-headers': '[\\'X-Remote-User\\']'}}}",
		BAD, "is not a certificate", "--requestheader-client-ca-file" },
	{ "available",
		APISERVICE(OUR_SERVICE, "'status': 'False', 'reason': 'FailedDiscoveryCheck', 'message': 'refused'"),
		BAD, "FailedDiscoveryCheck: refused", "kubectl delete apiservice" },
	{ "available", APISERVICE(OUR_SERVICE, "'status': 'False', 'message': 'x509: unknown authority'"), BAD, "x509",
		"kubectl patch apiservice" },
	{ "metric", "'discovery': " LACKS, BAD, "is not found", "systemctl restart kscaled" },
	{ "metric", "'metric': null", OK, "no ScaledObject has an external metric", NULL },
	{ "metric", "'metric': {'of': 'shop/web', 'error': 'invalid', 'message': 'source is down'}", BAD,
		"source is down", "kscaled explain shop/web" },
	{ "metric",
		"'metric': {'of': 'shop/web', 'name': 's0', 'error': 'temporary', 'message': 'GET x: HTTP 503: metric "
		"s0: redis is down'}",
		OK, "kscaled answers; it has no value for shop/web, because its source fails", NULL },
	{ "metric", "'metric': {'of': 'shop/web', 'error': 'denied', 'wanted': 'list on x'}", SKIP, "needs list on x",
		NULL },
	{ "metric", "'metric': {'of': 'shop/web', 'object': {'items': []}}", BAD, "there is no value",
		"kscaled explain" },
	{ "webhook", "'webhooks': " LACKS, WARN, "no ValidatingWebhookConfiguration", OURS },
	{ "webhook", WEBHOOKS(", 'failurePolicy': 'Fail'"), WARN, "failurePolicy Fail", OURS },
	{ "webhook", "'certificates': {'object': {'ca': 'SERVING', 'serving': 'SERVING'}}", BAD, "the caBundle of vso",
		"systemctl restart" },
	{ "webhook",
		"'webhooks': {'object': {'webhooks': [{'name': 'v', 'clientConfig': {'service': {" OUR_SERVICE "}}}]}}",
		BAD, "v has no caBundle", "systemctl restart" },
	{ "webhook",
		"'webhooks': {'object': {'webhooks': [{'name': 'v', 'clientConfig': {'service': {'namespace': 'keda', "
		"'name': "
		"'x'}}}]}}",
		BAD, "v names Service keda/x", OURS },
	{ "webhook-reached", "'trial': {'object': {}}", BAD, "accepted an invalid ScaledObject", "systemctl restart" },
	{ "webhook-reached", "'trial': " DENIED, SKIP, "needs get on it", NULL },
	{ "webhook-reached", "'trial': {'error': 'invalid', 'message': 'admission webhook x denied'}", WARN,
		"another webhook", NULL },
	{ "webhook-reached", "'trial': {'error': 'temporary', 'message': 'failed calling webhook x'}", BAD,
		"does not reach the webhook", "systemctl restart" },
	{ "lease", "'lease': " LACKS, BAD, "never run", "systemctl restart" },
	{ "lease", LEASE("lease", "", "false"), BAD, "no one holds", "systemctl restart" },
	{ "lease", LEASE("lease", "x", "false"), BAD,
		"x holds the Lease kscaled/operator.keda.sh, but did not renew it in the 15 seconds",
		"systemctl restart" },
	{ "keda", LEASE("keda-lease", "keda-1", "true"), BAD, "keda-1 holds",
		"kubectl -n keda scale deployment keda-operator --replicas 0" },
	{ "keda", LEASE("keda-lease", "keda-1", "false"), OK, "not installed", NULL },
	{ "keda", "'keda-deployment': {'object': {'spec': {'replicas': 1}}}", WARN, "wants 1 replicas",
		"--replicas 0" },
	{ "keda", "'keda-deployment': {'object': {'spec': {'replicas': 0}}}", OK, "has no replicas", NULL },
	{ "hpas", HPA(""), BAD, "shop/hpa has the same target as ScaledObject shop/web",
		"kubectl -n shop delete hpa hpa" },
	{ "hpas", HPA(", 'ownerReferences': [{'kind': 'ScaledObject', 'name': 'other'}]"), BAD, "does not belong to it",
		"kubectl -n shop delete hpa hpa" },
	{ "hpas", "'hpas': " DENIED, SKIP, "needs get on it", NULL },
	{ "objects", OBJECTS("{'type': 'Ready', 'status': 'False', 'reason': 'Bad', 'message': 'why'}"), BAD,
		"ScaledObject shop/web is not Ready: Bad: why", "kscaled explain so shop/web" },
	{ "objects", OBJECTS("{'type': 'Ready', 'status': 'False', 'reason': 'TriggerError', 'message': 'why'}"), OK,
		"all 1 are reconciled; a source of 1 fails", NULL },
	{ "sources", OBJECTS("{'type': 'Ready', 'status': 'False', 'reason': 'TriggerError', 'message': 'why'}"), WARN,
		"a source of ScaledObject shop/web fails, kscaled itself works: TriggerError: why",
		"kscaled explain so shop/web" },
	{ "sources", OBJECTS("{'type': 'Ready', 'status': 'False', 'reason': 'Bad', 'message': 'why'}"), OK,
		"none fails", NULL },
	{ "objects", OBJECTS(""), BAD, "no kscaled reconciles it", "systemctl restart" },
	{ "certificates", "'certificates': {'object': {'ca': 'CA', 'serving': 'x'}}", BAD,
		"serving certificate cannot be read", "systemctl restart" },
	{ "certificates", "'certificates': {'object': {'ca': 'CA'}}", BAD, "no serving certificate",
		"systemctl restart" },
};

static const char *const programs[] = { "kscaled ", "kubectl ", "helm ", "sudo ", "token=$(kubectl " };

/* Whether the text begins with the name of a program. */
static bool is_command(const char *text)
{
	size_t i = 0;

	while (i < MEM_COUNT(programs) && strncmp(text, programs[i], strlen(programs[i])) != 0)
		i++;
	return i < MEM_COUNT(programs);
}

/*
 * A command contains no prose; in a sentence each pair of backquotes contains a command or options.
 */
static bool is_a_mend(const char *text)
{
	const char *quote = strchr(text, '`'), *end;

	if (!quote)
		return is_command(text) ? !strstr(text, ", ") && !strstr(text, " or ")
					: !strstr(text, "kubectl ") && !strstr(text, "sudo ");
	for (; quote; quote = strchr(end + 1, '`')) {
		end = strchr(quote + 1, '`');
		if (!end || (!is_command(quote + 1) && !strstr(quote, "--") && !strstr(quote, "-arg: ")))
			return false;
	}
	return true;
}

static void expect(const struct example *e)
{
	MEM_AUTO char *changed = mem_printf("{%s}", e->changed);
	struct diagnosis d = { 0 };
	const struct diagnosis_line *line;

	visit(&usual, changed, &d);
	line = first_of(&d, e->hop, e->status);
	if (!line || !strstr(line->message, e->says) || !line->mend != !e->mend ||
		(e->mend && !strstr(line->mend, e->mend))) {
		print(&d);
		fail_msg("%s with %s: not \"%s\", mend \"%s\"", e->hop, changed, e->says, e->mend ? e->mend : "");
	}
	assert_int_equal(diagnosis_worst(&d, e->hop), e->status);
	if (line && line->mend && !is_a_mend(line->mend))
		fail_msg("neither a command nor a sentence: %s", line->mend);
	diagnosis_done(&d);
}

#define IN_PODS(pod)                                                                                                   \
	"'deployment': {'object': {'metadata': {'labels': {'app.kubernetes.io/name': 'kscaled', "                      \
	"'app.kubernetes.io/version': '7'}}, 'spec': {'replicas': 1, 'template': {'spec': "                            \
	"{'serviceAccountName': 'mine', 'containers': [{'name': 'kscaled', 'image': 'r/kscaled:1', "                   \
	"'args': ['run', '--watch-namespace=shop', '--restrict-secret-access=true'], 'resources': "                    \
	"{'limits': {'memory': '96Mi'}}}]}}}}}, " PODS(pod)
#define AGAIN "kscaled manifests --watch-namespace shop --restrict-secret-access"

/* The Pod's state, and the fix. */
static const struct example pods[] = {
	{ "pods", IN_PODS(READY), OK, "1 of 1 ready", NULL },
	{ "pods", IN_PODS(READY ", " WAITS("'state': {'waiting': {'reason': 'ErrImagePull'}}")), WARN,
		"cannot get its image r/kscaled:1 on node n: ErrImagePull", AGAIN " --image REGISTRY/kscaled:1 |" },
	{ "pods", IN_PODS(WAITS("'state': {'waiting': {'reason': 'ImagePullBackOff', 'message': 'why'}}")), BAD,
		"Pod kscaled-1 cannot get its image r/kscaled:1 on node n: ImagePullBackOff: why: the image must be on "
		"that node or in a registry that it reaches",
		AGAIN " --image REGISTRY/kscaled:1 | kubectl apply -f -" },
	{ "pods",
		IN_PODS(POD("'phase': 'Pending', 'conditions': [{'type': 'PodScheduled', 'status': 'False', 'reason': "
			    "'Unschedulable', 'message': '0/1 nodes'}]")),
		BAD, "has no node: Unschedulable: 0/1 nodes", "kubectl describe nodes" },
	{ "pods", IN_PODS(POD("'phase': 'Pending'")), BAD, "has been starting for", "describe pod kscaled-1" },
	{ "pods",
		IN_PODS(WAITS("'restartCount': 4, 'state': {'waiting': {'reason': 'CrashLoopBackOff'}}, 'lastState': "
			      "{'terminated': {'exitCode': 2, 'reason': 'Error', 'message': 'one\\ntwo: bad\\nkscaled: "
			      "`kscaled help` shows the options\\n'}}")),
		BAD, "keeps exiting (CrashLoopBackOff, 4 restarts so far, exit status 2): two: bad",
		"kubectl -n kscaled logs --previous kscaled-1" },
	{ "pods",
		IN_PODS(WAITS("'restartCount': 4, 'state': {'waiting': {'reason': 'CrashLoopBackOff'}}, 'lastState': "
			      "{'terminated': {'exitCode': 137, 'reason': 'OOMKilled'}}")),
		BAD, "ran out of memory (OOMKilled), 4 restarts so far: its limit is 96Mi",
		"kubectl -n kscaled set resources deployment kscaled -c kscaled --limits memory=192Mi" },
	{ "pods", IN_PODS(WAITS("'state': {'waiting': {'reason': 'CreateContainerConfigError', 'message': 'x'}}")), BAD,
		"cannot be started: CreateContainerConfigError: x", "describe pod" },
	{ "pods", IN_PODS(WAITS("'state': {'running': {}}")), BAD, "runs, but is not ready",
		"kubectl -n kscaled logs kscaled-1" },
	{ "pods", IN_PODS(POD("'phase': 'Failed', 'reason': 'Evicted', 'message': 'disk'")), BAD,
		"failed: Evicted: disk", "describe pod" },
	{ "pods", IN_PODS(""), BAD, "Deployment kscaled/kscaled has no Pod", "describe replicasets" },
	{ "pods", "'deployment': {'object': {'spec': {'replicas': 0}}}, " PODS(""), BAD, "is stopped",
		"kubectl -n kscaled scale deployment kscaled --replicas 1" },
	{ "pods",
		"'deployment': {'object': {'spec': {'replicas': 1}, 'status': {'conditions': [{'type': "
		"'ReplicaFailure', 'message': 'serviceaccount x not found'}]}}}, " PODS(""),
		BAD, "ServiceAccount kscaled/kscaled: serviceaccount x not found", "kscaled manifests | kubectl" },
	{ "pods", "'deployment': {'object': {}}, 'pods': " DENIED, SKIP, "needs get on it", NULL },
};

static void pods_come_first(void **state)
{
	struct diagnosis d = { 0 };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(pods); i++)
		expect(&pods[i]);
	visit(&usual,
		"{" IN_PODS(WAITS("'state': {'waiting': {'reason': 'ErrImagePull'}}")) ", 'certificates': " LACKS
										       ", 'lease': " LACKS "}",
		&d);
	/* Consequences are not findings of their own. */
	for (size_t i = 0; i < d.count; i++)
		assert_true(d.list[i].status != BAD || strcmp(d.list[i].hop, "pods") == 0);
	assert_string_equal(the_first_of(&d, "lease", SKIP).message, "not checked: pods failed");
	diagnosis_done(&d);
}

static void not_installed_is_the_only_finding(void **state)
{
	struct diagnosis d = { 0 };
	struct buf text = BUF_INIT(10000);

	(void)state;
	visit(&usual, "{'service': " LACKS ", 'apiservice': " LACKS "}", &d);
	diagnosis_text(&d, &text);
	assert_string_equal(buf_text(&text),
		"error    release          kscaled is not installed in namespace kscaled of this cluster: install it "
		"with kscaled manifests | kubectl apply -f -, helm install or kscaled join\n");
	buf_done(&text);
	diagnosis_done(&d);
	/* KEDA's, say. */
	visit(&usual,
		"{'service': " LACKS ", 'apiservice': {'object': {'spec': {'service': {'namespace': 'keda', 'name': "
		"'metrics'}}}}}",
		&d);
	assert_int_equal(d.count, 1);
	assert_non_null(strstr(d.list[0].message, "the external metrics are served by Service keda/metrics"));
	diagnosis_done(&d);
	/* What may not be read may exist. */
	visit(&usual, "{'service': " DENIED ", 'deployment': " DENIED ", 'apiservice': " DENIED "}", &d);
	assert_int_not_equal(diagnosis_worst(&d, "release"), BAD);
	diagnosis_done(&d);
}

#define HELM                                                                                                           \
	"'deployment': {'object': {'metadata': {'labels': {'app.kubernetes.io/name': 'kscaled', "                      \
	"'app.kubernetes.io/version': '7', 'app.kubernetes.io/managed-by': 'Helm'}, 'annotations': "                   \
	"{'meta.helm.sh/release-name': 'mine', 'meta.helm.sh/release-namespace': 'kscaled'}}, 'spec': {'template': "   \
	"{'spec': {'serviceAccountName': 'other', 'containers': [{'name': 'kscaled', 'args': ['run', "                 \
	"'--service-name=metrics', '--webhook=false'], 'env': [{'name': 'KSCALED_LEASE_NAME', 'value': 'mine'}], "     \
	"'resources': {'requests': {'cpu': '20m'}, 'limits': {'memory': '96Mi'}}}]}}}}}"

static const struct example of_helm[] = {
	{ "service", HELM ", " PODS(READY) ", 'service': " LACKS, BAD, "Service kscaled/metrics does not exist",
		"helm upgrade mine kscaled-7.tgz --namespace kscaled --reuse-values" },
	{ "pods", HELM ", " PODS(WAITS("'state': {'waiting': {'reason': 'ErrImagePull'}}")), BAD,
		"cannot get its image", "--reuse-values --set image.registry=REGISTRY" },
	{ "pods", HELM ", " PODS(WAITS("'state': {'terminated': {'reason': 'OOMKilled'}}")), BAD, "OOMKilled",
		"--reuse-values --set resources.operator.limits.memory=192Mi,resources.operator.requests.cpu=20m" },
	{ "crds", HELM ", " PODS(READY) ", 'crd scaledjobs': " LACKS, BAD, "is missing",
		"whoever installed the others" },
	{ "rights",
		HELM ", " PODS(READY) ", 'roles': {'object': []}, 'rights': {'object': {'account': 'a', 'missing': "
				      "[{'account': 'a', 'role': 'r', 'attributes': {}}]}}",
		BAD, "role r", "the release creates no roles (rbac.create=false): grant a these rights" },
};

static void fix_of_a_release_is_helm(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(of_helm); i++)
		expect(&of_helm[i]);
}

#define JOINED "'joined': {'object': '--kubeconfig /k3s.yaml --watch-namespace shop'}"

/* Faults of what `kscaled join` wrote or created. */
static const struct example of_join[] = {
	{ "credentials", JOINED ", " CONFIG(", 'token': {'subject': 'system:serviceaccount:a:b', 'until_ms': 2}"), BAD,
		"expired", "sudo kscaled join --kubeconfig /k3s.yaml --watch-namespace shop" },
	{ "api-server", JOINED ", 'version': {'error': 'denied', 'message': 'HTTP 401'}", BAD, "does not accept",
		"sudo kscaled join --kubeconfig /k3s.yaml --watch-namespace shop" },
	{ "api-server", JOINED ", 'version': {'error': 'temporary', 'message': 'refused'}", BAD, "refused",
		"sudo kscaled join --kubeconfig /k3s.yaml --watch-namespace shop" },
	{ "kubeconfig", JOINED ", 'kubeconfig': {'error': 'invalid', 'message': 'line 3'}", BAD, "line 3",
		"sudo kscaled join --kubeconfig /k3s.yaml --watch-namespace shop" },
	{ "api-server", "'joined': {'object': ''}, 'version': {'error': 'temporary', 'message': 'refused'}", BAD,
		"refused", "`sudo kscaled join --kubeconfig ADMIN` with the same options as before" },
	{ "service",
		"'service': " LACKS ", 'roles': {'object': [{'kind': 'ClusterRole', 'metadata': {'name': "
		"'kscaled-workloads', 'labels': {'app.kubernetes.io/name': 'kscaled'}, 'managedFields': [{'manager': "
		"'kscaled-join'}]}}]}, 'webhooks': null",
		BAD, "does not exist",
		"sudo kscaled join --kubeconfig ADMIN --scale-kinds KINDS --no-scaledjobs "
		"--restrict-secret-access" },
};

static void fix_on_a_host_is_join(void **state)
{
	struct doctor_setup s = usual;
	struct diagnosis d = { 0 };

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(of_join); i++)
		expect(&of_join[i]);
	/* kscaled's own kubeconfig lacks the rights to join. */
	s.admin = "/etc/of/host";
	visit(&s, "{'joined': {'object': ''}, 'version': {'error': 'denied', 'message': 'HTTP 401'}}", &d);
	assert_string_equal(the_first_of(&d, "api-server", BAD).mend,
		"`sudo kscaled join --kubeconfig ADMIN` with the same options as before");
	diagnosis_done(&d);
}

static void each_hop_reports_its_faults(void **state)
{
	(void)state;
	for (size_t i = 0; i < MEM_COUNT(examples); i++)
		expect(&examples[i]);
}

static void dependent_hops_are_skipped(void **state)
{
	struct diagnosis d = { 0 };

	(void)state;
	visit(&usual, "{'service': " LACKS "}", &d);
	assert_string_equal(the_first_of(&d, "available", SKIP).message, "not checked: service failed");
	assert_string_equal(the_first_of(&d, "metric", SKIP).message, "not checked: service failed");
	assert_int_equal(diagnosis_worst(&d, "lease"), OK);
	diagnosis_done(&d);
	/* What may not be read is not an error. */
	visit(&usual, "{'service': " DENIED "}", &d);
	assert_int_equal(diagnosis_worst(&d, "available"), OK);
	assert_int_equal(diagnosis_worst(&d, "metric"), OK);
	diagnosis_done(&d);
	visit(&usual, "{'version': {'error': 'temporary', 'message': 'refused'}}", &d);
	assert_int_equal(diagnosis_worst(&d, "credentials"), OK);
	assert_string_equal(the_first_of(&d, "certificates", SKIP).message, "not checked: api-server failed");
	diagnosis_done(&d);
}

static void options_change_the_findings(void **state)
{
	struct doctor_setup s = usual;
	struct diagnosis d = { 0 };

	(void)state;
	s.manifests.no_webhook = true;
	visit(&s, "{}", &d);
	assert_non_null(strstr(the_first_of(&d, "webhook", BAD).mend, "kubectl delete validatingwebhookconfiguration"));
	diagnosis_done(&d);
	visit(&s, "{'webhooks': " LACKS ", 'trial': null}", &d);
	assert_int_equal(diagnosis_worst(&d, "webhook"), OK);
	diagnosis_done(&d);
	s = usual;
	s.take_over = true;
	visit(&s, "{" LEASE("keda-lease", "keda-1", "true") "}", &d);
	assert_int_equal(diagnosis_worst(&d, "keda"), OK);
	diagnosis_done(&d);
	s = usual;
	s.no_lease = true;
	visit(&s, "{'lease': " LACKS "}", &d);
	assert_int_equal(diagnosis_worst(&d, "lease"), OK);
	diagnosis_done(&d);
	s = usual;
	s.kubeconfig = NULL; /* in a Pod */
	visit(&s, "{'service': " LACKS ", 'lease': " LACKS "}", &d);
	assert_string_equal(the_first_of(&d, "service", BAD).mend, "kscaled manifests | kubectl apply -f -");
	assert_string_equal(the_first_of(&d, "lease", BAD).mend,
		"kubectl -n kscaled rollout restart deployment/kscaled");
	diagnosis_done(&d);
	s = usual;
	s.program = "kubectl kscaled";
	visit(&s, "{" OBJECTS("{'type': 'Ready', 'status': 'False'}") ", 'crd scaledjobs': " LACKS "}", &d);
	assert_string_equal(the_first_of(&d, "crds", BAD).mend,
		"kubectl kscaled manifests --host 192.0.2.7:8443 | kubectl apply -f -");
	diagnosis_done(&d);
	visit(&s, "{" OBJECTS("{'type': 'Ready', 'status': 'False'}") "}", &d);
	assert_string_equal(the_first_of(&d, "objects", BAD).mend, "kubectl kscaled explain so shop/web");
	diagnosis_done(&d);
	s = usual;
	s.tls_cert_file = "/own.pem";
	visit(&s, "{'certificates': {'object': {'serving': 'x'}}}", &d);
	assert_int_equal(diagnosis_worst(&d, "ca-bundle"), SKIP);
	assert_string_equal(the_first_of(&d, "certificates", BAD).mend, "write a new certificate to /own.pem");
	diagnosis_done(&d);
	s = usual;
	s.manifests.host = "h:1";
	s.manifests.watch_namespaces = "a,b";
	s.manifests.scale_kinds = "deployments";
	s.manifests.no_scaledjobs = s.manifests.restrict_secrets = s.manifests.service_account_tokens = true;
	s.manifests.namespace_ = "own";
	s.manifests.service_name = "svc";
	visit(&s, "{'service': " LACKS ", " APISERVICE("'namespace': 'own', 'name': 'svc'", "'status': 'True'") "}",
		&d);
	assert_string_equal(the_first_of(&d, "service", BAD).mend,
		"kscaled manifests --host h:1 --namespace own --service-name svc --watch-namespace a,b --scale-kinds "
		"deployments --no-scaledjobs --restrict-secret-access --service-account-tokens | kubectl apply -f -");
	diagnosis_done(&d);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_findings_without_faults),
		cmocka_unit_test(each_hop_reports_its_faults),
		cmocka_unit_test(dependent_hops_are_skipped),
		cmocka_unit_test(options_change_the_findings),
		cmocka_unit_test(pods_come_first),
		cmocka_unit_test(not_installed_is_the_only_finding),
		cmocka_unit_test(fix_of_a_release_is_helm),
		cmocka_unit_test(fix_on_a_host_is_join),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
