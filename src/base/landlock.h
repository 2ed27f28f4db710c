/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_LANDLOCK_H
#define BASE_LANDLOCK_H

/*
 * Landlock, landlock(7): after landlock_restrict this process can read only the files that were
 * allowed, can write, create and remove files only below landlock_allow_replacing, cannot execute
 * any, and can send signals only to itself. What an older kernel cannot restrict remains allowed;
 * without Landlock nothing is restricted.
 *
 * Not restricted: stat, open descriptors, memory files, and sockets (net/sourcerules binds sockets
 * to learn the host's addresses).
 *
 * A rule belongs to the inode, not to the path. So a file that is replaced by a rename needs a rule
 * for its folder: landlock_allow_file.
 */

#include <stdbool.h>

#include "base/err.h"

struct landlock {
	int version; /* of the kernel's ABI; 0: not available */
	int rules_fd;
};

/* Begins a set of rules, which landlock_restrict or landlock_done ends. Always succeeds. */
void landlock_begin(struct landlock *l);

/*
 * Allows reading a file, or a folder and everything below it. Links are resolved now. False
 * (errno): it does not exist or cannot be reached.
 */
bool landlock_allow(struct landlock *l, const char *path);

/*
 * Allows reading the folder of a file and the folder of its link target, and so whatever replaces
 * the file later, by a rename or by changed links as in a mounted Secret. For a file in /, only the
 * file.
 */
void landlock_allow_file(struct landlock *l, const char *path);

/*
 * Also allows creating, replacing and removing files in a folder and below. False (errno): it does
 * not exist.
 */
bool landlock_allow_replacing(struct landlock *l, const char *folder);

/*
 * Restricts the calling thread and its future threads, irrevocably. Needs PR_SET_NO_NEW_PRIVS.
 * ERR_INVALID: the kernel does not support it, or refuses.
 */
int landlock_restrict(struct landlock *l, struct err *err);
void landlock_done(struct landlock *l);

#endif
