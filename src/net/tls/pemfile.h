/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_TLS_PEMFILE_H
#define NET_TLS_PEMFILE_H

/*
 * A PEM text as a file, for libraries that read only files (libpq, the MariaDB connector): a memfd,
 * which only this process can open. It is open only while the library connects.
 */

#include "base/err.h"

struct pemfile {
	int fd;        /* -1: none */
	char path[32]; /* "": none */
};

/* pem NULL: there is no file, which is no error. After an error there is none either. */
int pemfile_open(struct pemfile *f, const char *pem, struct err *err);
void pemfile_close(struct pemfile *f);

#endif
