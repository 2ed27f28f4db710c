/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_JOIN_ENVIRONMENT_H
#define CLI_JOIN_ENVIRONMENT_H

/*
 * The content of join.env: the daemon's options that follow from the arguments of `kscaled join`,
 * and those arguments as a comment, so that `kscaled doctor` can suggest the same call, with no
 * more rights.
 */

#include "cli/host/hostfiles.h"
#include "cli/manifests.h"

#define ENVIRONMENT_USUAL_PORT 8443

struct environment { /* all borrowed */
	const char *kubeconfig;
	const struct manifests_params *params;
	const struct hostfiles *files;
	unsigned given_port; /* of --port; 0: not given, keep the previous one or kscaled.conf's */
	unsigned port;       /* that kscaled listens on */
};

/* Reads the existing files. The caller owns it. */
char *environment_text(const struct environment *e);

#endif
