/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_FILE_H
#define BASE_FILE_H

/*
 * Small local files read whole, up to the cap of the buffer. They may hold secrets: no copy is left
 * beside the buffer.
 */

#include <sys/stat.h>

#include "base/buf.h"
#include "base/err.h"

enum file_kind {
	FILE_REGULAR, /* nothing else: a FIFO must not hold the loop */
	FILE_ANY,     /* also a pipe that the command line names; blocks */
};

/*
 * Into an empty buffer. *st, if not NULL, is zeroed, then told before the content is read, so that
 * it shows a change in between. ERR_MISSING: there is none of this name; ERR_INVALID: it cannot be
 * read, is longer than the cap, or not of the kind. The message does not name the path.
 */
int file_read(const char *path, enum file_kind kind, struct stat *st, struct buf *out, struct err *err);

/*
 * `path`, relative to the folder `root` or absolute, as it is with all symbolic links followed,
 * when that lies below root; the caller owns it. NULL: there is nothing of that name, or it
 * lies elsewhere (ERR_INVALID, which does not name the path). Who may write below root could
 * change it before it is opened.
 */
char *file_beneath(const char *root, const char *path, struct err *err);

/* To the end, or until the buffer has failed. -1: errno. */
int file_read_fd(int fd, struct buf *out);

#endif
