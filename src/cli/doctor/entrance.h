/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_ENTRANCE_H
#define CLI_DOCTOR_ENTRANCE_H

/*
 * Judgements of `kscaled doctor` on the way into the cluster: kubeconfig, the credentials in it,
 * the API server and its version, the clock. Pure.
 *
 * Facts: "kubeconfig" (source, server, token_file, cluster and user as it names them, and of its
 * credentials certificate: cn, from_ms, until_ms; and token: subject, issued_ms, until_ms) and
 * "version" (major, minor, gitVersion; date_ms: what its clock said, and asked_ms: what ours said
 * then).
 */

#include "cli/doctor/casefile.h"

/* The versions of Kubernetes that kscaled is known to work with: 1.25 to 1.36. */
#define ENTRANCE_MINOR_MIN 25
#define ENTRANCE_MINOR_MAX 36

void entrance_kubeconfig(const struct casefile *c);
void entrance_credentials(const struct casefile *c);
void entrance_api_server(const struct casefile *c);
void entrance_clock(const struct casefile *c);

#endif
