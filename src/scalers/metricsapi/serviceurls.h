/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_METRICSAPI_SERVICEURLS_H
#define SCALERS_METRICSAPI_SERVICEURLS_H

/*
 * Derives the URLs of the pods behind a Service from the Service's URL, for
 * aggregateFromKubeServiceEndpoints of metrics-api (doc/keda.md 8.10). The host is read as
 * <service>.<namespace>[.svc...]; path and query are kept (KEDA drops the query). metricsapi reads
 * the EndpointSlices. Pure.
 *
 * Endpoints that are not ready are skipped, and each pod counts once: by its uid if there is one,
 * because a dual-stack Service has two slices for the same pods; else by its address. The port of
 * the URL is the pods' port, as in KEDA. If a slice has exactly one port and it is another, that
 * port is used: the URL then has the Service's port. Several other ports are an error (KEDA omits
 * the port).
 */

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

#define SERVICEURLS_MAX        1000 /* endpoints of one Service */
#define SERVICEURLS_LENGTH_MAX 2048 /* of the URL, which is written out for each */

struct serviceurls { /* owns its texts */
	char *scheme, *service, *namespace_;
	char *rest; /* path and query, from / or ? on; may be "" */
	uint16_t port;
};

/*
 * Parses the URL. ERR_INVALID when the host is not <service>.<namespace>; *out then needs no done.
 */
int serviceurls_read(const char *url, struct serviceurls *out, struct err *err);
void serviceurls_done(struct serviceurls *s);

/*
 * The path of the request for the EndpointSlices; the caller owns it. Answered from the API
 * server's cache, which may lag by milliseconds.
 */
char *serviceurls_request(const struct serviceurls *s);

/*
 * Extracts the pod URLs from that request's answer; the caller frees each URL and the array.
 * ERR_TEMPORARY when there is none: `no endpoints URLs were given for the service name ...`;
 * ERR_INVALID when there are too many or the port is ambiguous.
 */
int serviceurls_of(const struct serviceurls *s, const json_t *list, char ***urls, size_t *count, struct err *err);

#endif
