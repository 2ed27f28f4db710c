/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_CHECKS_H
#define CLI_DOCTOR_CHECKS_H

/*
 * The checks of `kscaled doctor`, each of one hop. Pure: they read the facts named above them and
 * add findings. Also release.h and rights.h, whose facts gather.c reads first.
 */

#include "cli/doctor/facts.h"

/*
 * apiserver.c, access to the API server: kubeconfig, its credentials, the API server's version, the
 * clock. "kubeconfig" (source, server, token_file, the names of cluster and user, certificate: cn,
 * from_ms, until_ms; and token: subject, issued_ms, until_ms), "version" (major, minor, gitVersion;
 * date_ms: the server's clock; asked_ms: ours at that moment).
 */
void apiserver_kubeconfig(const struct facts *c);
void apiserver_credentials(const struct facts *c);
void apiserver_version(const struct facts *c);
void apiserver_clock(const struct facts *c);

/*
 * pods.c: whether a Pod of kscaled is ready, and why others are not: no image, no node, exited, out
 * of memory. "deployment", "pods" (a list).
 */
void pods_check(const struct facts *c);

/* definitions.c, the CustomResourceDefinitions: "crd scaledobjects" and so on, each a whole one. */
extern const char *const definitions_plurals[]; /* NULL-terminated */
void definitions_crds(const struct facts *c);

/*
 * aggregation.c, the path from the API server to kscaled: Service, endpoints, APIService, the
 * aggregator's route, trust in both directions, and fetching a metric. "service", "endpointslices"
 * (a list), "endpoints", "apiservice", "certificates" (ca, serving: PEM texts), "request-header" (a
 * ConfigMap), "discovery" (an APIResourceList), "metric" (of, name, and list: an
 * ExternalMetricValueList).
 */
void aggregation_service(const struct facts *c);
void aggregation_endpoints(const struct facts *c);
void aggregation_apiservice(const struct facts *c);
void aggregation_routing(const struct facts *c);
void aggregation_ca_bundle(const struct facts *c);
void aggregation_request_header(const struct facts *c);
void aggregation_available(const struct facts *c);
void aggregation_metric(const struct facts *c);

/*
 * webhook.c, the admission webhook: its configuration, and whether the API server reaches it.
 * "webhooks" (the ValidatingWebhookConfiguration), "certificates" (ca), "trial": the API server's
 * answer to a ScaledObject that the webhook must deny.
 */
void webhook_configuration(const struct facts *c);
void webhook_reached(const struct facts *c);

/*
 * competitors.c, who else acts: the holder of the Lease, KEDA, and foreign HorizontalPodAutoscalers
 * on the same targets. "lease", "keda-lease", "keda-deployment", "scaledobjects", "hpas" (lists).
 */
void competitors_lease(const struct facts *c);
void competitors_keda(const struct facts *c);
void competitors_hpas(const struct facts *c);

/*
 * status.c, objects that are not Ready and kscaled's certificates. "scaledobjects", "scaledjobs"
 * (lists), "certificates".
 */
void status_objects(const struct facts *c);
void status_sources(const struct facts *c); /* failing sources; not the installation's fault */
void status_certificates(const struct facts *c);

#endif
