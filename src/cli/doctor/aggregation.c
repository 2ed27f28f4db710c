/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/aggregation.h"

#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "control/certs/certs.h"
#include "net/x509.h"
#include "serve/access/frontproxyconfig.h"

/* Since this version the aggregator looks at EndpointSlices; before, at Endpoints. */
#define SLICES_SINCE_MINOR 33

static bool is_external_name(const json_t *service)
{
	return strcmp(casefile_text_at(service, "spec.type"), "ExternalName") == 0;
}

/* ---- Service ---- */

/* The port of the Service that the APIService names; NULL: it has none such. */
static const json_t *port_of(const json_t *service, json_int_t wanted)
{
	const json_t *port;
	size_t i;

	json_array_foreach(casefile_at(service, "spec.ports"), i, port)
	{
		if (json_integer_value(json_object_get(port, "port")) == wanted)
			return port;
	}
	return NULL;
}

static json_int_t wanted_port(const struct casefile *c)
{
	const json_t *port = casefile_at(casefile_object(c, "apiservice"), "spec.service.port");

	return port ? json_integer_value(port) : 443;
}

void aggregation_service(const struct casefile *c)
{
	bool told;
	const json_t *service = casefile_read(c, "service", &told);
	const char *type = casefile_text_at(service, "spec.type"), *ns = c->setup->namespace_,
		   *name = c->setup->service_name;

	if (told)
		return;
	if (!service)
		casefile_wrong(c, casefile_apply(c), "there is no Service %s/%s", ns, name);
	else if (is_external_name(service))
		casefile_fine(c, "%s/%s leads to %s", ns, name, casefile_text_at(service, "spec.externalName"));
	else if (!port_of(service, wanted_port(c)))
		casefile_wrong(c, casefile_apply(c), "%s/%s has no port %d, which the APIService names", ns, name,
			(int)wanted_port(c));
	else
		casefile_fine(c, "%s/%s, %s %s", ns, name, type, casefile_text_at(service, "spec.clusterIP"));
}

/* ---- Endpoints ---- */

static bool is_ready(const json_t *endpoint)
{
	/* Absent counts as ready (discovery.k8s.io/v1). */
	return !json_is_false(casefile_at(endpoint, "conditions.ready")) &&
		json_array_size(json_object_get(endpoint, "addresses")) > 0;
}

static size_t ready_in(const json_t *slice)
{
	const json_t *endpoint;
	size_t i, count = 0;

	json_array_foreach(json_object_get(slice, "endpoints"), i, endpoint) count += is_ready(endpoint);
	return count;
}

static bool has_port_named(const json_t *slice, const char *name)
{
	const json_t *port;
	size_t i;

	json_array_foreach(json_object_get(slice, "ports"), i, port)
	{
		if (strcmp(json_str_or_empty(port, "name"), name) == 0)
			return true;
	}
	return false;
}

static char *mend_endpoints(const struct casefile *c, const json_t *service)
{
	return casefile_at(service, "spec.selector") ? casefile_restart(c) : casefile_apply(c);
}

/* true: API servers that look at Endpoints find what they need. */
static bool judge_old_kind(const struct casefile *c, const json_t *service)
{
	int minor = atoi(casefile_text_at(casefile_object(c, "version"), "minor"));

	if (minor == 0 || minor >= SLICES_SINCE_MINOR || !casefile_lacks(c, "endpoints"))
		return true;
	casefile_wrong(c, mend_endpoints(c, service),
		"there is an EndpointSlice but no Endpoints %s/%s, where an API server before 1.%d looks",
		c->setup->namespace_, c->setup->service_name, SLICES_SINCE_MINOR);
	return false;
}

/* The port of a slice belongs to the Service's port of the same name (discovery.k8s.io/v1). */
static void judge_slices(const struct casefile *c, const json_t *service, const json_t *slices)
{
	const char *port = json_str_or_empty(port_of(service, wanted_port(c)), "name"), *other = NULL;
	const json_t *slice;
	size_t i, ready = 0;

	json_array_foreach(slices, i, slice)
	{
		if (ready_in(slice) > 0 && has_port_named(slice, port))
			ready += ready_in(slice);
		else if (ready_in(slice) > 0)
			other = casefile_name_of(slice);
	}
	if (ready == 0 && other)
		casefile_wrong(c, mend_endpoints(c, service),
			"EndpointSlice %s has no port named \"%s\", as the Service's port is: such an endpoint is not "
			"found",
			other, port);
	else if (ready == 0)
		casefile_wrong(c, mend_endpoints(c, service), "Service %s/%s has no endpoint that is ready",
			c->setup->namespace_, c->setup->service_name);
	else if (judge_old_kind(c, service))
		casefile_fine(c, "%zu ready", ready);
}

void aggregation_endpoints(const struct casefile *c)
{
	const json_t *service = casefile_object(c, "service"), *slices;
	bool told;

	if (!service) {
		casefile_skip(c, "not looked at: the Service is not known");
		return;
	}
	if (is_external_name(service)) {
		casefile_fine(c, "none are needed: the API server resolves %s itself",
			casefile_text_at(service, "spec.externalName"));
		return;
	}
	slices = casefile_read(c, "endpointslices", &told);
	if (!told)
		judge_slices(c, service, json_object_get(slices, "items"));
}

/* ---- APIService ---- */

static char *point_to_us(const struct casefile *c)
{
	const json_t *service = casefile_object(c, "service");
	json_int_t port = is_external_name(service)
		? json_integer_value(json_object_get(json_array_get(casefile_at(service, "spec.ports"), 0), "port"))
		: 443;

	return mem_printf("kubectl patch apiservice " CERTS_APISERVICE " --type=merge -p "
			  "'{\"spec\":{\"insecureSkipTLSVerify\":null,\"service\":{\"namespace\":\"%s\",\"name\":\"%"
			  "s\","
			  "\"port\":%d}}}'",
		c->setup->namespace_, c->setup->service_name, (int)port);
}

void aggregation_apiservice(const struct casefile *c)
{
	bool told;
	const json_t *apiservice = casefile_read(c, "apiservice", &told);
	const char *ns = casefile_text_at(apiservice, "spec.service.namespace"),
		   *name = casefile_text_at(apiservice, "spec.service.name");

	if (told)
		return;
	if (!apiservice)
		casefile_wrong(c, casefile_apply(c),
			"there is no APIService " CERTS_APISERVICE ": HorizontalPodAutoscalers get no metric");
	else if (!*name)
		casefile_wrong(c, point_to_us(c), CERTS_APISERVICE " names no Service: the API server answers itself");
	else if (strcmp(ns, c->setup->namespace_) != 0 || strcmp(name, c->setup->service_name) != 0)
		casefile_wrong(c, point_to_us(c),
			CERTS_APISERVICE
			" belongs to another adapter: it names Service %s/%s, so kscaled does not act; remove "
			"that adapter first",
			ns, name);
	else
		casefile_fine(c, CERTS_APISERVICE " names Service %s/%s", ns, name);
}

static const json_t *availability(const struct casefile *c)
{
	return casefile_condition(casefile_object(c, "apiservice"), "Available");
}

/* A Service that was applied as a name keeps it; `kscaled join` knows how to replace it. */
static char *replace_name(const struct casefile *c)
{
	MEM_AUTO char *apply = casefile_apply_at(c, "ADDRESS:PORT");

	if (c->setup->maker == DOCTOR_JOIN)
		return mem_dup(apply);
	return mem_printf("kubectl -n %s delete service %s; %s", c->setup->namespace_, c->setup->service_name, apply);
}

/*
 * Where no kube-proxy runs beside the API server. A name takes what belongs to an address with it.
 */
static char *let_reach(const struct casefile *c)
{
	MEM_AUTO char *apply = casefile_apply_at(c, "NAME:PORT"),
		      *old = c->setup->maker == DOCTOR_JOIN
		? mem_dup("")
		: mem_printf("kubectl -n %s delete service,endpoints,endpointslices -l "
			     "app.kubernetes.io/name=kscaled; ",
			  c->setup->namespace_),
		      *name = casefile_at(casefile_object(c, "service"), "spec.selector")
		? mem_dup("")
		: mem_printf("; or a DNS name: `%s%s`", old, apply);

	return mem_printf("the option `--enable-aggregator-routing=true` for kube-apiserver (kubeadm: in "
			  "/etc/kubernetes/manifests/kube-apiserver.yaml; k3s: `kube-apiserver-arg: "
			  "[enable-aggregator-routing=true]` in /etc/rancher/k3s/config.yaml), or kube-proxy beside "
			  "it%s",
		name);
}

/*
 * Nothing tells whether the aggregator goes to endpoints (--enable-aggregator-routing) or to the
 * Service; the errors of both ways do.
 */
void aggregation_routing(const struct casefile *c)
{
	const json_t *service = casefile_object(c, "service");
	const char *ip = casefile_text_at(service, "spec.clusterIP");
	MEM_AUTO char *by_ip = *ip ? mem_printf(strchr(ip, ':') ? "https://[%s]" : "https://%s", ip) : NULL;
	const char *message = json_str_or_empty(availability(c), "message");

	if (!service || !availability(c))
		casefile_skip(c, "not looked at: the Service or the condition Available is not known");
	else if (json_str_is(availability(c), "status", "True"))
		casefile_fine(c, "the API server gets to the Service");
	else if (is_external_name(service) && strstr(message, "unsupported service type"))
		casefile_wrong(c, replace_name(c),
			"the API server runs with --enable-aggregator-routing=true, which knows no ExternalName: it "
			"needs an IP address");
	else if (by_ip && strstr(message, by_ip))
		casefile_warn(c, let_reach(c),
			"the API server connects to the cluster IP %s, which only kube-proxy on its host makes an "
			"address",
			ip);
	else
		casefile_fine(c, "the API server connects to what the Service names");
}

/* ---- Trust ---- */

static char *put_bundle(const struct casefile *c)
{
	return mem_printf("kubectl patch apiservice " CERTS_APISERVICE " --type=merge -p "
			  "\"{\\\"spec\\\":{\\\"caBundle\\\":\\\"$(kubectl -n %s get secret " CERTS_SECRET
			  " -o jsonpath='{.data.ca\\.crt}')\\\"}}\"",
		c->setup->namespace_);
}

void aggregation_ca_bundle(const struct casefile *c)
{
	const json_t *apiservice = casefile_object(c, "apiservice"), *certificates;
	const char *encoded = casefile_text_at(apiservice, "spec.caBundle"), *ca;
	MEM_AUTO char *bundle = base64_decode(encoded, NULL);
	bool told;

	if (!apiservice || c->setup->tls_cert_file) {
		casefile_skip(c,
			apiservice ? "not looked at: --tls-cert-file is given, and its authority is the user's"
				   : "not looked at: the APIService is not known");
		return;
	}
	certificates = casefile_read(c, "certificates", &told);
	ca = json_str_or_empty(certificates, "ca");
	if (told)
		return;
	if (!*ca)
		casefile_wrong(c, casefile_restart(c),
			"there is no authority in Secret %s/" CERTS_SECRET ": kscaled makes one when it runs",
			c->setup->namespace_);
	else if (!*encoded)
		casefile_wrong(c, put_bundle(c),
			"the APIService has no caBundle: kscaled has never led since it was made");
	else if (!casefile_bundle_has(bundle, ca))
		casefile_wrong(c, put_bundle(c), "the caBundle of the APIService is not kscaled's authority");
	else
		casefile_fine(c, "is kscaled's authority");
}

/* The aggregator always sends these headers; extension servers ignore those that are not named. */
#define GIVE_REQUEST_HEADER                                                                                            \
	"give kube-apiserver (kubeadm: in /etc/kubernetes/manifests/kube-apiserver.yaml) "                             \
	"`--requestheader-client-ca-file=CA --requestheader-allowed-names=NAME "                                       \
	"--requestheader-username-headers=X-Remote-User --requestheader-group-headers=X-Remote-Group "                 \
	"--requestheader-extra-headers-prefix=X-Remote-Extra- --proxy-client-cert-file=CERTIFICATE "                   \
	"--proxy-client-key-file=KEY`, where CERTIFICATE is a client's, of NAME, signed by CA"

/* kubeadm keeps what is there, ended or not, and renews no authority. */
#define NEW_FRONT_PROXY                                                                                                \
	"make a new authority and a certificate of it, and start kube-apiserver again; with kubeadm: `sudo sh -c 'rm " \
	"/etc/kubernetes/pki/front-proxy-*' && sudo kubeadm init phase certs front-proxy-ca && sudo kubeadm init "     \
	"phase certs front-proxy-client`; with k3s, see k3s certificate rotate-ca"

/* kube-apiserver tells of no authority that has ended. */
static char *mend_front_proxy(const struct err *err)
{
	return mem_dup(err->kind == ERR_MISSING ? GIVE_REQUEST_HEADER
			"; where it has them, that authority has ended: " NEW_FRONT_PROXY
						: GIVE_REQUEST_HEADER);
}

void aggregation_request_header(const struct casefile *c)
{
	bool told;
	const json_t *map = casefile_read(c, "request-header", &told);
	struct frontproxy_config config = { .ca_pem = NULL };
	char until[TIMESTAMP_TEXT_MAX];
	struct x509_facts facts;
	struct err err = { 0 };

	if (told)
		return;
	if (frontproxy_config_decode(map, &config, &err) < 0)
		casefile_wrong(c, mend_front_proxy(&err),
			"ConfigMap kube-system/extension-apiserver-authentication: %s", err.msg);
	else if (x509_read(config.ca_pem, &facts, &err) < 0)
		casefile_wrong(c, mem_dup(GIVE_REQUEST_HEADER), "requestheader-client-ca-file is no certificate: %s",
			err.msg);
	else if (facts.not_after_unix_ms < c->now_ms)
		casefile_wrong(c, mem_dup(NEW_FRONT_PROXY), "the authority of the aggregator ended at %s",
			timestamp_format(facts.not_after_unix_ms, until));
	else
		casefile_fine(c, "the aggregator's authority is \"%s\", good until %s", facts.subject_cn,
			timestamp_format(facts.not_after_unix_ms, until));
	frontproxy_config_done(&config);
}

/* ---- Whether it works ---- */

#define FREE_BY_HAND                                                                                                   \
	"; if kscaled is not to come back, `kubectl delete apiservice " CERTS_APISERVICE " " CERTS_INSIGHT             \
	"`, without which namespaces can be deleted again"

static char *mend_unavailable(const struct casefile *c, const char *message)
{
	char *join = casefile_join(c);
	MEM_AUTO char *start = casefile_quote(join ? join : casefile_restart(c));

	if (strstr(message, "x509") || strstr(message, "certificate"))
		return put_bundle(c);
	return mem_printf("%s" FREE_BY_HAND, start);
}

void aggregation_available(const struct casefile *c)
{
	const json_t *condition = availability(c);
	const char *message = json_str_or_empty(condition, "message");

	if (!casefile_object(c, "apiservice"))
		casefile_skip(c, "not looked at: the APIService is not known");
	else if (json_str_is(condition, "status", "True"))
		casefile_fine(c, "%s", *message ? message : "True");
	else
		casefile_wrong(c, mend_unavailable(c, message), "the APIService is not Available: %s: %s",
			json_str_or_empty(condition, "reason"), message);
}

/* Discovery first: without it no metric is asked for. */
static bool judge_discovery(const struct casefile *c)
{
	bool told;
	const json_t *discovery = casefile_read(c, "discovery", &told);

	if (!discovery && !told)
		casefile_wrong(c, casefile_restart(c),
			"/apis/external.metrics.k8s.io/v1beta1 is not found, though the APIService is Available");
	return discovery != NULL;
}

/* The words are kscaled's (serve/externalmetrics): the way is good, and the source is not. */
static bool says_source_fails(const json_t *asked)
{
	MEM_AUTO char *words = mem_printf("metric %s: ", json_str_or_empty(asked, "name"));

	return strstr(json_str_or_empty(asked, "message"), words) != NULL;
}

void aggregation_metric(const struct casefile *c)
{
	const json_t *asked = json_object_get(c->facts, "metric"), *items;
	const char *of = json_str_or_empty(asked, "of"), *slash = strchr(of, '/');
	const char *name = slash ? slash + 1 : "";
	MEM_AUTO char *namespace_ = mem_dupn(of, strcspn(of, "/"));

	if (!judge_discovery(c))
		return;
	items = casefile_at(casefile_object(c, "metric"), "items");
	if (!json_is_object(asked))
		casefile_fine(c, "discovery answers; there is no ScaledObject with an external metric to fetch");
	else if (json_array_size(items) > 0)
		casefile_fine(c, "%s of %s is %s", casefile_text_at(json_array_get(items, 0), "metricName"), of,
			casefile_text_at(json_array_get(items, 0), "value"));
	else if (json_str_is(asked, "error", "denied"))
		casefile_skip(c, "discovery answers; a metric is not looked at: needs %s",
			json_str_or_empty(asked, "wanted"));
	else if (says_source_fails(asked))
		casefile_fine(c, "kscaled answers; it has no value for %s, as its source fails", of);
	else
		casefile_wrong(c, casefile_explain(c, "", namespace_, name), "the metric of %s is not answered: %s", of,
			*casefile_message(c, "metric") ? casefile_message(c, "metric") : "there is no value");
}
