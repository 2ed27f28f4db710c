/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HOST_HOSTFILES_H
#define CLI_HOST_HOSTFILES_H

/*
 * The files of `kscaled join` on this host: CONFIG/kubeconfig, which names the token's file;
 * STATE/token, which the daemon renews; and CONFIG/join.env, options for the systemd unit. Each is
 * replaced atomically, has mode 0600, and belongs to the user kscaled if it exists.
 */

#include <stdbool.h>

#include "base/err.h"
#include "kube/config.h"

#define HOSTFILES_CONFIG "/etc/kscaled"
#define HOSTFILES_STATE  "/var/lib/kscaled"
#define HOSTFILES_USER   "kscaled"

/* The first line of a kubeconfig that `kscaled join` wrote. */
#define HOSTFILES_MARK "# Made by kscaled join."

struct hostfiles {                          /* strings are borrowed */
	const char *config_dir, *state_dir; /* absolute */
};

bool hostfiles_has_user(void); /* HOSTFILES_USER exists */

/* The kubeconfig with the server and CA of `admin` and our token's file. The caller owns it. */
char *hostfiles_kubeconfig(const struct hostfiles *f, const struct kube_config *admin, const char *namespace_);

/*
 * Creates the directories and writes the files. environment: the lines of join.env. ERR_INVALID
 * names the file; earlier ones are written, and another run completes it.
 */
int hostfiles_write(const struct hostfiles *f, const char *kubeconfig, const char *token, const char *environment,
	struct err *err);

/* The whole of a file in one of the directories; NULL: unreadable. The caller wipes it. */
char *hostfiles_read(const char *folder, const char *name);

/*
 * The arguments of `kscaled join`, for `kscaled doctor` to suggest again: the line of
 * CONFIG/join.env after HOSTFILES_CALL. NULL: none, or unreadable. The caller owns it.
 */
#define HOSTFILES_CALL "# kscaled join "
char *hostfiles_call(const char *config_dir);

/* kscaled's port in CONFIG/join.env, or in CONFIG/kscaled.conf; 0: not set. */
unsigned hostfiles_joined_port(const struct hostfiles *f);
unsigned hostfiles_configured_port(const struct hostfiles *f);

/* Removes those files and the daemon's nonce; missing ones are no error. */
int hostfiles_remove(const struct hostfiles *f, struct err *err);

#endif
