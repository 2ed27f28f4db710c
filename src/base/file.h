/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

/*
 * Reads small local files whole, up to the cap of the buffer. They may be secret: no copies remain
 * outside the buffer.
 */

#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"

enum file_kind {
	FILE_REGULAR, /* only regular files, as a FIFO could block the loop */
	FILE_ANY,     /* also pipes, which may block; for the command line */
};

/*
 * Reads a file into an empty buffer. *st, unless NULL, is zeroed, then filled before the content is
 * read, so that a later comparison detects a change. ERR_MISSING: there is no such file;
 * ERR_INVALID: it cannot be read, is longer than the cap, or not of the kind. The message does not
 * contain the path.
 */
int file_read(const char *path, enum file_kind kind, struct stat *st, struct buf *out, struct err *err);

/*
 * Resolves `path`, absolute or relative to the folder `root`, including symbolic links; the caller
 * owns the result. NULL and ERR_INVALID (without the path) if the file does not exist or is outside
 * root. Not safe against those who can write below root.
 */
char *file_beneath(const char *root, const char *path, struct err *err);

/*
 * The folder that contains the path: "/a" for "/a/b", "/" for "/b", "." for "b". The caller owns
 * it.
 */
char *file_folder(const char *path);

/*
 * Replaces or creates a file, mode 0600. It is written beside the old one as "PATH.new" and
 * renamed, so that readers, also after a crash, find the old or the new text and never a part.
 * Opens no existing file. For one writer per file. ERR_INVALID with the reason, without the path;
 * then the old file is unchanged.
 */
int file_replace(const char *path, const char *text, size_t len, struct err *err);

/* Reads to the end, or until the buffer has failed. -1: errno. */
int file_read_fd(int fd, struct buf *out);

#endif
