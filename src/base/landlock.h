/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_LANDLOCK_H
#define BASE_LANDLOCK_H

/*
 * Landlock, landlock(7): from landlock_restrict on this process reads the files that were allowed,
 * and no others. It writes, makes, removes and runs none, and signals only itself. Without a
 * library: three system calls. What the kernel's version cannot refuse yet stays allowed; where
 * there is no Landlock, nothing here does anything.
 *
 * Not refused: asking for a file's size and times (stat), what is open already, memory files, and
 * everything about sockets: net/sourcerules binds to learn which addresses are the host's, and
 * judges by it.
 *
 * A rule stays with the folder or file that has the path now, whatever has that path later. So what
 * is replaced by a rename needs a rule for its folder: landlock_allow_file.
 */

#include <stdbool.h>

#include "base/err.h"

struct landlock {
	int version; /* of the kernel's interface; 0: the kernel has none, or does not let us */
	int rules_fd;
};

/* Always usable; landlock_restrict or landlock_done ends it. */
void landlock_begin(struct landlock *l);

/*
 * A folder with all below it, or one file, may be read. Links are followed now. False: there is
 * nothing of that name, or no way to it (errno).
 */
bool landlock_allow(struct landlock *l, const char *path);

/*
 * The folder of a file, and the one that its links lead to now, may be read: so may what replaces
 * the file, by a rename or by links that are turned, as those of a mounted Secret. Of a file in the
 * root folder only this file, as it is.
 */
void landlock_allow_file(struct landlock *l, const char *path);

/*
 * From now on, and for ever, for the calling thread and those that it starts. The process must not
 * be able to gain privileges (PR_SET_NO_NEW_PRIVS). ERR_INVALID: the kernel has no Landlock, or
 * refuses it.
 */
int landlock_restrict(struct landlock *l, struct err *err);
void landlock_done(struct landlock *l);

#endif
