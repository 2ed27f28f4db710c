/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_PROBES_H
#define SERVE_PROBES_H

/*
 * /healthz, /livez: the loop runs. /readyz: metrics can be served: the API server answers, the
 * objects were read, there is a certificate, the front proxy is known. Each check also has a path
 * of its own (/readyz/ping); `?verbose` lists them. 200 "ok", or 503 with a line per check that
 * says why it fails.
 */

struct request;

enum probes_probe { PROBES_HEALTH, PROBES_LIVE, PROBES_READY }; /* a route's `of` */
void probes_handle(struct request *r);

#endif
