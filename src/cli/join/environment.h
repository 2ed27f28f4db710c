/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_JOIN_ENVIRONMENT_H
#define CLI_JOIN_ENVIRONMENT_H

/*
 * What `kscaled join` writes to join.env: the daemon's options that follow from how it was called,
 * and, as a comment, how that was, by which `kscaled doctor` says how to do it again: so that
 * nothing is wider then.
 */

#include "cli/host/hostfiles.h"
#include "cli/manifests.h"

#define ENVIRONMENT_USUAL_PORT 8443

struct environment { /* all borrowed */
	const char *kubeconfig;
	const struct manifests_params *params;
	const struct hostfiles *files;
	unsigned given_port; /* by --port; 0: not given, and that of before stays, or kscaled.conf's */
	unsigned port;       /* on which kscaled serves */
};

/* The caller owns it. Reads what stands in the files. */
char *environment_text(const struct environment *e);

#endif
