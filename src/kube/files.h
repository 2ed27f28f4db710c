/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_FILES_H
#define KUBE_FILES_H

/*
 * The files of a configuration. Each is read up to a cap and remembered with its identity, size and
 * time, so that a cheap check detects whether any changed, appeared or disappeared. Contents are
 * not kept.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

struct files {                       /* a value; zeroed it is empty */
	struct files_entry *entries; /* owned */
	size_t count;
};

struct files_entry {
	char *path;     /* owned */
	uint64_t stamp; /* hash of device, inode, size, mtime; 0: missing */
};

/*
 * Reads a regular file of at most `cap` bytes into *text (NUL-terminated, the caller owns it) and
 * remembers it, even if it is missing (ERR_MISSING). ERR_INVALID: too big, not a regular file, not
 * readable.
 */
int files_read(struct files *f, const char *path, size_t cap, char **text, size_t *len, struct err *err);

/* The same for an untrusted path, which must lie below `root` (file_beneath of base/file). */
int files_read_beneath(struct files *f, const char *root, const char *path, size_t cap, char **text, size_t *len,
	struct err *err);

bool files_changed(const struct files *f); /* follows symbolic links, as mounted service accounts need */
void files_done(struct files *f);

uint64_t files_stamp(const char *path); /* the stamp of struct files_entry; follows symbolic links */

#endif
