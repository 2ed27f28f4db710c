/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_APISERVER_H
#define CLI_DOCTOR_APISERVER_H

/*
 * Checks of `kscaled doctor` on access to the API server: kubeconfig, its credentials, the API
 * server's version, the clock. Pure.
 *
 * Facts: "kubeconfig" (source, server, token_file, the names of cluster and user, certificate: cn,
 * from_ms, until_ms; and token: subject, issued_ms, until_ms) and "version" (major, minor,
 * gitVersion; date_ms: the server's clock; asked_ms: ours at that moment).
 */

#include "cli/doctor/facts.h"

/* The Kubernetes versions that kscaled is tested with: 1.25 to 1.36. */
#define APISERVER_MINOR_MIN 25
#define APISERVER_MINOR_MAX 36

void apiserver_kubeconfig(const struct facts *c);
void apiserver_credentials(const struct facts *c);
void apiserver_version(const struct facts *c);
void apiserver_clock(const struct facts *c);

#endif
