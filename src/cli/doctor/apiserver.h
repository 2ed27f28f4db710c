/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_APISERVER_H
#define CLI_DOCTOR_APISERVER_H

/*
 * Judgements of `kscaled doctor` on the way into the cluster: kubeconfig, the credentials in it,
 * the API server and its version, the clock. Pure.
 *
 * Facts: "kubeconfig" (source, server, token_file, cluster and user as it names them, and of its
 * credentials certificate: cn, from_ms, until_ms; and token: subject, issued_ms, until_ms) and
 * "version" (major, minor, gitVersion; date_ms: what its clock said, and asked_ms: what ours said
 * then).
 */

#include "cli/doctor/facts.h"

/* The versions of Kubernetes that kscaled is known to work with: 1.25 to 1.36. */
#define APISERVER_MINOR_MIN 25
#define APISERVER_MINOR_MAX 36

void apiserver_kubeconfig(const struct facts *c);
void apiserver_credentials(const struct facts *c);
void apiserver_version(const struct facts *c);
void apiserver_clock(const struct facts *c);

#endif
