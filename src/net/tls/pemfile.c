/* SPDX-License-Identifier: Apache-2.0 */
#include "net/tls/pemfile.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

int pemfile_open(struct pemfile *f, const char *pem, struct err *err)
{
	size_t len = pem ? strlen(pem) : 0;

	*f = (struct pemfile){ .fd = -1 };
	if (!pem)
		return 0;
	f->fd = memfd_create("pem", MFD_CLOEXEC);
	/* libpq refuses a key that others might read. */
	if (f->fd < 0 || fchmod(f->fd, S_IRUSR | S_IWUSR) < 0 || write(f->fd, pem, len) != (ssize_t)len) {
		err_set(err, ERR_TEMPORARY, "keeping a certificate for the TLS library: %s", strerror(errno));
		pemfile_close(f);
		return -1;
	}
	snprintf(f->path, sizeof(f->path), "/proc/self/fd/%d", f->fd);
	return 0;
}

void pemfile_close(struct pemfile *f)
{
	if (f->fd >= 0)
		close(f->fd);
	*f = (struct pemfile){ .fd = -1 };
}
