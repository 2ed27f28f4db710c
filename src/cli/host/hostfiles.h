/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HOST_HOSTFILES_H
#define CLI_HOST_HOSTFILES_H

/*
 * The files by which a kscaled on this host enters the cluster: CONFIG/kubeconfig, which names the
 * token's file; STATE/token, which the daemon renews; and CONFIG/join.env, options that follow from
 * how the host was joined, for the systemd unit. Each is replaced whole, mode 0600, and belongs to
 * the user kscaled where there is one.
 */

#include <stdbool.h>

#include "base/err.h"
#include "kube/config.h"

#define HOSTFILES_CONFIG "/etc/kscaled"
#define HOSTFILES_STATE  "/var/lib/kscaled"
#define HOSTFILES_USER   "kscaled"

/* How a kubeconfig of ours begins. */
#define HOSTFILES_MARK "# Made by kscaled join."

struct hostfiles {                          /* strings are borrowed */
	const char *config_dir, *state_dir; /* absolute */
};

bool hostfiles_has_user(void); /* this host knows HOSTFILES_USER */

/*
 * The text of the kubeconfig: server and trust of `admin`, and our token's file. Owned by the
 * caller.
 */
char *hostfiles_kubeconfig(const struct hostfiles *f, const struct kube_config *admin, const char *namespace_);

/*
 * Makes the folders and writes the files. environment: the lines of join.env. ERR_INVALID names the
 * file; those before are written, and another run completes it.
 */
int hostfiles_write(const struct hostfiles *f, const char *kubeconfig, const char *token, const char *environment,
	struct err *err);

/*
 * How `kscaled join` was called, for `kscaled doctor` to say how to do it again: the line of
 * CONFIG/join.env that begins with HOSTFILES_CALL, without that. NULL: there is none,
 * or it may not be read. The caller owns it.
 */
#define HOSTFILES_CALL "# kscaled join "
char *hostfiles_call(const char *config_dir);

/*
 * The port on which kscaled serves, as CONFIG/join.env has it, or CONFIG/kscaled.conf; 0: it does
 * not say.
 */
unsigned hostfiles_joined_port(const struct hostfiles *f);
unsigned hostfiles_configured_port(const struct hostfiles *f);

/* Removes those files and the daemon's nonce; what is not there is no error. */
int hostfiles_remove(const struct hostfiles *f, struct err *err);

#endif
