/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_FILEWATCH_H
#define NET_FILEWATCH_H

/*
 * Reports changes in the folders of some files: inotify(7) on the loop. It watches folders, not
 * files, because files are replaced by renames and by changed links. It reports too often rather
 * than too rarely, and the caller compares (kube/files). Events close together are reported once.
 * Reads no file.
 */

#include <stdbool.h>
#include <stddef.h>

#include "net/loop.h"

struct filewatch;

/* NULL: the kernel has no inotify watches left for this user (errno). */
struct filewatch *filewatch_new(struct loop *loop, loop_fn on_change, void *arg);
void filewatch_free(struct filewatch *f); /* NULL is fine */

/*
 * Also watches the folder of this file and that of its link target. Call it again after a change,
 * as links may lead elsewhere then; existing watches stay. False (errno): the folder cannot be
 * watched.
 */
bool filewatch_add(struct filewatch *f, const char *path);

#endif
