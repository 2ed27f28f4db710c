/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_FILES_H
#define KUBE_FILES_H

/*
 * The files a configuration came from. Each one is read here, under a cap, and remembered with its
 * identity, size and time, so that one cheap question later tells whether any of them changed,
 * appeared or went. The content is not kept.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct files {                       /* a value; zero-initialised is empty */
	struct files_entry *entries; /* owned */
	size_t count;
};

struct files_entry {
	char *path;     /* owned */
	uint64_t stamp; /* of device, inode, size, mtime; 0: it was not there */
};

/*
 * Reads all of a regular file of at most `cap` bytes into *text (NUL-terminated, the caller owns
 * it) and remembers it, even when it is not there (ERR_MISSING). ERR_INVALID: too big, not a
 * regular file, not readable.
 */
int files_read(struct files *f, const char *path, size_t cap, char **text, size_t *len, struct err *err);

/*
 * The same of a path that somebody else chose, which must lie below `root` as base/file's
 * file_beneath has it.
 */
int files_read_beneath(struct files *f, const char *root, const char *path, size_t cap, char **text, size_t *len,
	struct err *err);

bool files_changed(const struct files *f); /* follows symbolic links, as mounted service accounts need */
void files_done(struct files *f);

uint64_t files_stamp(const char *path); /* as a struct files_entry has it; follows symbolic links */

#endif
