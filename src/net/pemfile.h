/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PEMFILE_H
#define NET_PEMFILE_H

/*
 * A PEM text for a library that reads files only (libpq, the MariaDB connector): a memory file
 * (memfd) without a name, that only this process can open. Open while the library connects, and no
 * longer.
 */

#include "base/err.h"

struct pemfile {
	int fd;        /* -1: none */
	char path[32]; /* "": none */
};

/* pem NULL: none, which is no error. On an error there is none, too. */
int pemfile_open(struct pemfile *f, const char *pem, struct err *err);
void pemfile_close(struct pemfile *f);

#endif
