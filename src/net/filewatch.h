/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_FILEWATCH_H
#define NET_FILEWATCH_H

/*
 * Says that something happened in the folders of some files: inotify(7) on the loop. Folders are
 * watched, not files, because files are replaced by renames and by links that are turned; so it
 * tells too often rather than never, and the caller compares (kube/files). Several events within a
 * moment are told once. Reads no file.
 */

#include <stdbool.h>
#include <stddef.h>

#include "net/loop.h"

struct filewatch;

/* NULL: the kernel has no inotify watches left for this user (errno). */
struct filewatch *filewatch_new(struct loop *loop, loop_fn on_change, void *arg);
void filewatch_free(struct filewatch *f); /* NULL is fine */

/*
 * Watches also the folder of this file, and that of what it links to. Called again after a change,
 * as links may lead elsewhere then; what is watched already stays so. False (errno): its folder
 * cannot be watched.
 */
bool filewatch_add(struct filewatch *f, const char *path);

#endif
