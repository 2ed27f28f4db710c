/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_LANDLOCK_H
#define BASE_LANDLOCK_H

/*
 * Landlock, landlock(7): after landlock_restrict this process can read only the files that were
 * allowed, and write, create and remove none but below landlock_allow_replacing. It executes none,
 * and send signals only to itself. What an older kernel cannot restrict remains allowed; without
 * Landlock nothing is restricted.
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
 * Allows to read a folder with all below it, or a file. Links are followed now. False (errno): it
 * does not exist, or cannot be reached.
 */
bool landlock_allow(struct landlock *l, const char *path);

/*
 * Allows to read the folder of a file, and the folder of its link target, and so what replaces the
 * file later, by a rename or by changed links as in a mounted Secret. Of a file in / only the file.
 */
void landlock_allow_file(struct landlock *l, const char *path);

/*
 * Allows also to create, replace and remove files in a folder and below, and to read them. False
 * (errno): it does not exist.
 */
bool landlock_allow_replacing(struct landlock *l, const char *folder);

/*
 * Restricts the calling thread and those that it starts, irrevocably. Needs PR_SET_NO_NEW_PRIVS.
 * ERR_INVALID: the kernel does not support it, or refuses.
 */
int landlock_restrict(struct landlock *l, struct err *err);
void landlock_done(struct landlock *l);

#endif
