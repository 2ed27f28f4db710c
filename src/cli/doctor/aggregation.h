/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_AGGREGATION_H
#define CLI_DOCTOR_AGGREGATION_H

/*
 * Checks of `kscaled doctor` on the path from the API server to kscaled: Service, endpoints,
 * APIService, the aggregator's route, trust in both directions, and fetching a metric. Pure.
 *
 * Facts: "service", "endpointslices" (a list), "endpoints", "apiservice", "certificates" (ca,
 * serving: PEM texts), "request-header" (a ConfigMap), "discovery" (an APIResourceList), "metric"
 * (of, name, and list: an ExternalMetricValueList).
 */

#include "cli/doctor/facts.h"

void aggregation_service(const struct facts *c);
void aggregation_endpoints(const struct facts *c);
void aggregation_apiservice(const struct facts *c);
void aggregation_routing(const struct facts *c);
void aggregation_ca_bundle(const struct facts *c);
void aggregation_request_header(const struct facts *c);
void aggregation_available(const struct facts *c);
void aggregation_metric(const struct facts *c);

#endif
