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
 * Resolves `path`, absolute or relative to the folder `root`, with all symbolic links, if the
 * result is below root; the caller owns it. NULL and ERR_INVALID, without the path: there is no
 * such file, or it is outside of root. Not safe against those who may write below root.
 */
char *file_beneath(const char *root, const char *path, struct err *err);

/*
 * The folder that a path's last part is in: "/a" of "/a/b", "/" of "/b", "." of "b". The caller
 * owns it.
 */
char *file_folder(const char *path);

/*
 * Replaces a file, or creates it, mode 0600: written beside it under the name "PATH.new" and
 * renamed, so that a reader, or a start after a crash, finds the old or the new text and never a
 * part. It opens no file that exists. For one writer per file. ERR_INVALID with the reason, without
 * the path; then the old file is as it was.
 */
int file_replace(const char *path, const char *text, size_t len, struct err *err);

/* Reads to the end, or until the buffer has failed. -1: errno. */
int file_read_fd(int fd, struct buf *out);

#endif
