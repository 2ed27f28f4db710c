/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/checks.h"

#include <stdlib.h>
#include <string.h>

#include "base/json.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "control/certs/certs.h"
#include "net/tls/x509.h"
#include "serve/access/frontproxyconfig.h"

/* The first minor version whose aggregator reads EndpointSlices instead of Endpoints. */
#define SLICES_SINCE_MINOR 33

static bool is_external_name(const json_t *service)
{
	return fields_is(service, "spec.type", "ExternalName");
}

/* ---- Service ---- */

/* The Service's port with this number; NULL: none. */
static const json_t *port_of(const json_t *service, json_int_t wanted)
{
	const json_t *port;
	size_t i;

	json_array_foreach(fields_at(service, "spec.ports"), i, port)
	{
		if (json_integer_value(json_object_get(port, "port")) == wanted)
			return port;
	}
	return NULL;
}

static json_int_t wanted_port(const struct facts *c)
{
	const json_t *port = fields_at(c->facts, "apiservice.object.spec.service.port");

	return port ? json_integer_value(port) : 443;
}

void aggregation_service(const struct facts *c)
{
	const json_t *service = facts_object(c, "service");
	const char *type = fields_text(service, "spec.type"), *ns = c->namespace_, *name = c->service;

	if (!service)
		facts_error(c, facts_apply(c), "Service %s/%s does not exist", ns, name);
	else if (is_external_name(service))
		facts_ok(c, "%s/%s points to %s", ns, name, fields_text(service, "spec.externalName"));
	else if (!port_of(service, wanted_port(c)))
		facts_error(c, facts_apply(c), "%s/%s has no port %d, which the APIService names", ns, name,
			(int)wanted_port(c));
	else
		facts_ok(c, "%s/%s, %s %s", ns, name, type, fields_text(service, "spec.clusterIP"));
}

/* ---- Endpoints ---- */

static bool is_ready(const json_t *endpoint)
{
	/* Absent counts as ready (discovery.k8s.io/v1). */
	return !json_is_false(fields_at(endpoint, "conditions.ready")) &&
		json_array_size(json_object_get(endpoint, "addresses")) > 0;
}

static size_t ready_in(const json_t *slice)
{
	const json_t *endpoint;
	size_t i, count = 0;

	json_array_foreach(json_object_get(slice, "endpoints"), i, endpoint) count += is_ready(endpoint);
	return count;
}

static char *mend_endpoints(const struct facts *c, const json_t *service)
{
	return fields_at(service, "spec.selector") ? facts_restart(c) : facts_apply(c);
}

/* Older API servers read Endpoints. false: they are missing, and a finding says so. */
static bool check_old_kind(const struct facts *c, const json_t *service)
{
	int minor = atoi(fields_text(c->facts, "version.object.minor"));

	if (minor == 0 || minor >= SLICES_SINCE_MINOR || !facts_lacks(c, "endpoints"))
		return true;
	facts_error(c, mend_endpoints(c, service),
		"an EndpointSlice exists, but no Endpoints %s/%s, which an API server before 1.%d needs", c->namespace_,
		c->service, SLICES_SINCE_MINOR);
	return false;
}

/* The port of a slice belongs to the Service's port of the same name (discovery.k8s.io/v1). */
static void check_slices(const struct facts *c, const json_t *service, const json_t *slices)
{
	const char *port = json_str_or_empty(port_of(service, wanted_port(c)), "name"), *other = NULL;
	const json_t *slice;
	size_t i, ready = 0;

	json_array_foreach(slices, i, slice)
	{
		if (ready_in(slice) > 0 && fields_entry(json_object_get(slice, "ports"), "name", port))
			ready += ready_in(slice);
		else if (ready_in(slice) > 0)
			other = fields_name(slice);
	}
	if (ready == 0 && other)
		facts_error(c, mend_endpoints(c, service),
			"EndpointSlice %s has no port named \"%s\" like the Service's port: its endpoints are not used",
			other, port);
	else if (ready == 0)
		facts_error(c, mend_endpoints(c, service), "Service %s/%s has no ready endpoint", c->namespace_,
			c->service);
	else if (check_old_kind(c, service))
		facts_ok(c, "%zu ready", ready);
}

void aggregation_endpoints(const struct facts *c)
{
	const json_t *service = facts_object(c, "service");

	if (!service) {
		facts_skip(c, "not checked: the Service is unknown");
		return;
	}
	if (is_external_name(service)) {
		facts_ok(c, "none are needed: the API server resolves %s itself",
			fields_text(service, "spec.externalName"));
		return;
	}
	if (facts_known(c, "endpointslices"))
		check_slices(c, service, fields_at(c->facts, "endpointslices.object.items"));
}

/* ---- APIService ---- */

static char *point_to_us(const struct facts *c)
{
	const json_t *service = facts_object(c, "service");
	json_int_t port = is_external_name(service) ? fields_number(service, "spec.ports.0.port") : 443;

	return mem_printf("kubectl patch apiservice " CERTS_APISERVICE " --type=merge -p "
			  "'{\"spec\":{\"insecureSkipTLSVerify\":null,\"service\":{\"namespace\":\"%s\",\"name\":\"%"
			  "s\","
			  "\"port\":%d}}}'",
		c->namespace_, c->service, (int)port);
}

void aggregation_apiservice(const struct facts *c)
{
	const json_t *apiservice = facts_object(c, "apiservice");
	const char *ns = fields_text(apiservice, "spec.service.namespace"),
		   *name = fields_text(apiservice, "spec.service.name");

	if (!apiservice)
		facts_error(c, facts_apply(c),
			"no APIService " CERTS_APISERVICE ": HorizontalPodAutoscalers get no external metrics");
	else if (!*name)
		facts_error(c, point_to_us(c),
			CERTS_APISERVICE " names no Service: the API server answers the requests itself");
	else if (strcmp(ns, c->namespace_) != 0 || strcmp(name, c->service) != 0)
		facts_error(c, point_to_us(c),
			CERTS_APISERVICE
			" belongs to another adapter: it names Service %s/%s, so kscaled does not act; remove "
			"that adapter first",
			ns, name);
	else
		facts_ok(c, CERTS_APISERVICE " names Service %s/%s", ns, name);
}

/*
 * Applying over an ExternalName does not remove the name, so delete first; `kscaled join` replaces
 * the Service itself.
 */
static char *replace_name(const struct facts *c)
{
	MEM_AUTO char *apply = facts_apply_at(c, "ADDRESS:PORT");

	if (c->setup->installer == DOCTOR_JOIN)
		return mem_dup(apply);
	return mem_printf("kubectl -n %s delete service %s; %s", c->namespace_, c->service, apply);
}

/*
 * For an API server without kube-proxy beside it. Switching from an address to a name requires
 * deleting the address's objects first.
 */
static char *let_reach(const struct facts *c)
{
	MEM_AUTO char *apply = facts_apply_at(c, "NAME:PORT"),
		      *old = c->setup->installer == DOCTOR_JOIN
		? mem_dup("")
		: mem_printf("kubectl -n %s delete service,endpoints,endpointslices -l "
			     "app.kubernetes.io/name=kscaled; ",
			  c->namespace_),
		      *name = fields_at(c->facts, "service.object.spec.selector")
		? mem_dup("")
		: mem_printf("; or a DNS name: `%s%s`", old, apply);

	return mem_printf("the option `--enable-aggregator-routing=true` for kube-apiserver (kubeadm: in "
			  "/etc/kubernetes/manifests/kube-apiserver.yaml; k3s: `kube-apiserver-arg: "
			  "[enable-aggregator-routing=true]` in /etc/rancher/k3s/config.yaml), or kube-proxy beside "
			  "it%s",
		name);
}

/*
 * The cluster does not tell whether --enable-aggregator-routing is set; the wording of the errors
 * does.
 */
void aggregation_routing(const struct facts *c)
{
	const json_t *service = facts_object(c, "service");
	const char *ip = fields_text(service, "spec.clusterIP");
	MEM_AUTO char *by_ip = *ip ? mem_printf(strchr(ip, ':') ? "https://[%s]" : "https://%s", ip) : NULL;
	const json_t *available = fields_condition(facts_object(c, "apiservice"), "Available");
	const char *message = json_str_or_empty(available, "message");

	if (!service || !available)
		facts_skip(c, "not checked: the Service or the condition Available is unknown");
	else if (json_str_is(available, "status", "True"))
		facts_ok(c, "the API server reaches the Service");
	else if (is_external_name(service) && strstr(message, "unsupported service type"))
		facts_error(c, replace_name(c),
			"the API server runs with --enable-aggregator-routing=true, which does not support "
			"ExternalName: the Service needs an IP address");
	else if (by_ip && strstr(message, by_ip))
		facts_warn(c, let_reach(c),
			"the API server connects to the cluster IP %s, which works only with kube-proxy on its host",
			ip);
	else
		facts_ok(c, "the API server connects to the Service's address");
}

/* ---- Trust ---- */

static char *put_bundle(const struct facts *c)
{
	return mem_printf("kubectl patch apiservice " CERTS_APISERVICE " --type=merge -p "
			  "\"{\\\"spec\\\":{\\\"caBundle\\\":\\\"$(kubectl -n %s get secret " CERTS_SECRET
			  " -o jsonpath='{.data.ca\\.crt}')\\\"}}\"",
		c->namespace_);
}

void aggregation_ca_bundle(const struct facts *c)
{
	const json_t *apiservice = facts_object(c, "apiservice");
	const char *ca = fields_text(c->facts, "certificates.object.ca");

	if (!apiservice || c->setup->tls_cert_file) {
		facts_skip(c,
			apiservice ? "not checked: with --tls-cert-file the CA is the user's"
				   : "not checked: the APIService is unknown");
		return;
	}
	if (!facts_known(c, "certificates"))
		return;
	if (!*ca)
		facts_error(c, facts_restart(c),
			"no CA in Secret %s/" CERTS_SECRET ": kscaled creates one when it runs", c->namespace_);
	else if (facts_bundle(c, "the APIService", fields_text(apiservice, "spec.caBundle"), ca, put_bundle(c)))
		facts_ok(c, "contains kscaled's CA");
}

/*
 * The header names are required: kscaled reads no others, although the aggregator always sends
 * these.
 */
#define GIVE_REQUEST_HEADER                                                                                            \
	"give kube-apiserver (kubeadm: in /etc/kubernetes/manifests/kube-apiserver.yaml) "                             \
	"`--requestheader-client-ca-file=CA --requestheader-allowed-names=NAME "                                       \
	"--requestheader-username-headers=X-Remote-User --requestheader-group-headers=X-Remote-Group "                 \
	"--requestheader-extra-headers-prefix=X-Remote-Extra- --proxy-client-cert-file=CERTIFICATE "                   \
	"--proxy-client-key-file=KEY`, where CERTIFICATE is a client certificate for NAME, signed by CA"

/* kubeadm keeps existing files, even expired ones, and never renews a CA. */
#define NEW_FRONT_PROXY                                                                                                \
	"make a new CA and a client certificate signed by it, and restart kube-apiserver; with kubeadm: `sudo sh -c "  \
	"'rm "                                                                                                         \
	"/etc/kubernetes/pki/front-proxy-*' && sudo kubeadm init phase certs front-proxy-ca && sudo kubeadm init "     \
	"phase certs front-proxy-client`; with k3s, see k3s certificate rotate-ca"

/* kube-apiserver does not publish an expired CA: then the ConfigMap lacks the key. */
static char *mend_front_proxy(const struct err *err)
{
	return mem_dup(err->kind == ERR_MISSING ? GIVE_REQUEST_HEADER
			"; if it has them, that CA has expired: " NEW_FRONT_PROXY
						: GIVE_REQUEST_HEADER);
}

void aggregation_request_header(const struct facts *c)
{
	const json_t *map = facts_object(c, "request-header");
	struct frontproxy_config config = { .ca_pem = NULL };
	char until[TIMESTAMP_TEXT_MAX];
	struct x509_facts facts;
	struct err err = { 0 };

	if (frontproxy_config_decode(map, &config, &err) < 0)
		facts_error(c, mend_front_proxy(&err), "ConfigMap kube-system/extension-apiserver-authentication: %s",
			err.msg);
	else if (x509_read(config.ca_pem, &facts, &err) < 0)
		facts_error(c, mem_dup(GIVE_REQUEST_HEADER), "requestheader-client-ca-file is not a certificate: %s",
			err.msg);
	else if (facts.not_after_unix_ms < c->now_ms)
		facts_error(c, mem_dup(NEW_FRONT_PROXY), "the aggregator's CA expired at %s",
			timestamp_format(facts.not_after_unix_ms, until));
	else
		facts_ok(c, "the aggregator's CA \"%s\" is valid until %s", facts.subject_cn,
			timestamp_format(facts.not_after_unix_ms, until));
	frontproxy_config_done(&config);
}

/* ---- Whether it works ---- */

#define FREE_BY_HAND                                                                                                   \
	"; if kscaled is gone for good, `kubectl delete apiservice " CERTS_APISERVICE " " CERTS_INSIGHT                \
	"`, so that namespaces can be deleted again"

static char *mend_unavailable(const struct facts *c, const char *message)
{
	char *join = facts_join(c);
	MEM_AUTO char *start = facts_quote(join ? join : facts_restart(c));

	if (strstr(message, "x509") || strstr(message, "certificate"))
		return put_bundle(c);
	return mem_printf("%s" FREE_BY_HAND, start);
}

void aggregation_available(const struct facts *c)
{
	const json_t *condition = fields_condition(facts_object(c, "apiservice"), "Available");
	const char *message = json_str_or_empty(condition, "message");

	if (!facts_object(c, "apiservice"))
		facts_skip(c, "not checked: the APIService is unknown");
	else if (json_str_is(condition, "status", "True"))
		facts_ok(c, "%s", *message ? message : "True");
	else
		facts_error(c, mend_unavailable(c, message), "the APIService is not Available: %s: %s",
			json_str_or_empty(condition, "reason"), message);
}

/* kscaled's own wording (serve/externalmetrics): the path works, the source does not. */
static bool says_source_fails(const json_t *asked)
{
	MEM_AUTO char *words = mem_printf("metric %s: ", json_str_or_empty(asked, "name"));

	return strstr(json_str_or_empty(asked, "message"), words) != NULL;
}

void aggregation_metric(const struct facts *c)
{
	const json_t *asked = json_object_get(c->facts, "metric"), *value = fields_at(asked, "object.items.0");
	const char *of = json_str_or_empty(asked, "of"), *slash = strchr(of, '/');
	const char *name = slash ? slash + 1 : "";
	MEM_AUTO char *namespace_ = mem_dupn(of, strcspn(of, "/"));

	/* Clients ask for no metric unless discovery works. */
	if (!facts_object(c, "discovery"))
		facts_error(c, facts_restart(c),
			"/apis/external.metrics.k8s.io/v1beta1 is not found, although the APIService is Available");
	else if (!json_is_object(asked))
		facts_ok(c, "discovery answers; no ScaledObject has an external metric to fetch");
	else if (value)
		facts_ok(c, "%s of %s is %s", json_str_or_empty(value, "metricName"), of,
			json_str_or_empty(value, "value"));
	else if (json_str_is(asked, "error", "denied"))
		facts_skip(c, "discovery answers; a metric is not checked: needs %s",
			json_str_or_empty(asked, "wanted"));
	else if (says_source_fails(asked))
		facts_ok(c, "kscaled answers; it has no value for %s, because its source fails", of);
	else
		facts_error(c, facts_explain(c, "", namespace_, name), "no metric for %s: %s", of,
			*fields_text(c->facts, "metric.message") ? fields_text(c->facts, "metric.message")
								 : "there is no value");
}
