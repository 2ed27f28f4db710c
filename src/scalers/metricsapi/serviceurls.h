/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_METRICSAPI_SERVICEURLS_H
#define SCALERS_METRICSAPI_SERVICEURLS_H

/*
 * From the URL of a Service to the URLs of the pods behind it, for
 * aggregateFromKubeServiceEndpoints of metrics-api (keda-scalers.md A.8). Its host is read as
 * <service>.<namespace>[.svc...]; path and query stay (KEDA drops the query). Called by metricsapi,
 * which brings the EndpointSlices; pure.
 *
 * Endpoints that are not ready are left out, and each pod counts once: by its uid where there is
 * one, as a Service with two families of addresses has two slices that name the same pods; else by
 * its address. The port of the URL is that of the pods, as in KEDA. Where a slice has another one
 * and only that, it is taken: then the URL had the Service's. Where it has several others, that is
 * an error (KEDA leaves the port out).
 */

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define SERVICEURLS_MAX 1000 /* endpoints of one Service */

struct serviceurls { /* owns its texts */
	char *scheme, *service, *namespace_;
	char *rest; /* path and query, "" or from / or ? on */
	uint16_t port;
};

/* ERR_INVALID when the host names no service and namespace; on failure *out needs no done. */
int serviceurls_read(const char *url, struct serviceurls *out, struct err *err);
void serviceurls_done(struct serviceurls *s);

/*
 * The path of the request for its EndpointSlices; the caller owns it. From the API server's memory:
 * an answer may be some milliseconds old.
 */
char *serviceurls_request(const struct serviceurls *s);

/*
 * list: that request's answer. The caller owns the URLs and frees each, and the array.
 * ERR_TEMPORARY when there is none: `no endpoints URLs were given for the service name ...`;
 * ERR_INVALID when there are too many, or the port is not clear.
 */
int serviceurls_of(const struct serviceurls *s, const json_t *list, char ***urls, size_t *count, struct err *err);

#endif
