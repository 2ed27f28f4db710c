/* SPDX-License-Identifier: Apache-2.0 */
#include "base/file.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/mem.h"

int file_read_fd(int fd, struct buf *out)
{
	char piece[16384];
	ssize_t got = 0;

	while (!buf_failed(out) && (got = read(fd, piece, sizeof(piece))) != 0) {
		if (got < 0 && errno != EINTR)
			break;
		if (got > 0)
			buf_append(out, piece, (size_t)got);
	}
	mem_wipe(piece, sizeof(piece));
	return got < 0 ? -1 : 0;
}

static int read_open(int fd, enum file_kind kind, struct stat *st, struct buf *out, struct err *err)
{
	if (fstat(fd, st) < 0)
		return err_set(err, ERR_INVALID, "%s", strerror(errno));
	if (kind == FILE_REGULAR && !S_ISREG(st->st_mode))
		return err_set(err, ERR_INVALID, "not a regular file");
	if (kind == FILE_REGULAR)
		buf_reserve(out, out->cap); /* reallocation would leave copies; the file may grow while it is read */
	if (file_read_fd(fd, out) < 0)
		return err_set(err, ERR_INVALID, "%s", strerror(errno));
	return buf_failed(out) ? err_set(err, ERR_INVALID, "longer than %zu bytes", out->cap) : 0;
}

int file_read(const char *path, enum file_kind kind, struct stat *st, struct buf *out, struct err *err)
{
	struct stat ignored;
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NOCTTY | (kind == FILE_REGULAR ? O_NONBLOCK : 0));
	int result;

	st = st ? st : &ignored;
	memset(st, 0, sizeof(*st));
	if (fd < 0)
		return err_set(err, errno == ENOENT || errno == ENOTDIR ? ERR_MISSING : ERR_INVALID, "%s",
			strerror(errno));
	result = read_open(fd, kind, st, out, err);
	close(fd);
	return result;
}

char *file_folder(const char *path)
{
	const char *slash = strrchr(path, '/');

	return !slash ? mem_dup(".") : slash == path ? mem_dup("/") : mem_dupn(path, (size_t)(slash - path));
}

static int write_new(const char *path, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), saved;
	size_t done = 0;
	ssize_t put = 0;

	if (fd < 0)
		return -1;
	while (done < len && (put = write(fd, text + done, len - done)) > 0)
		done += (size_t)put;
	if (put == 0 && done < len)
		errno = ENOSPC;
	put = done == len && fsync(fd) == 0 ? 0 : -1;
	saved = errno;
	close(fd);
	errno = saved;
	return (int)put;
}

int file_replace(const char *path, const char *text, size_t len, struct err *err)
{
	MEM_AUTO char *aside = mem_printf("%s.new", path);
	int saved;

	unlink(aside); /* left by a crash */
	if (write_new(aside, text, len) == 0 && rename(aside, path) == 0)
		return 0;
	saved = errno;
	unlink(aside);
	return err_set(err, ERR_INVALID, "%s", strerror(saved));
}

char *file_beneath(const char *root, const char *path, struct err *err)
{
	char *folder = realpath(root, NULL), *found = NULL;
	MEM_AUTO char *whole = *path == '/' ? mem_dup(path) : mem_printf("%s/%s", root, path);
	size_t len = folder ? strlen(folder) : 0;

	if (!folder) {
		err_set(err, ERR_INVALID, "the folder it should be in: %s", strerror(errno));
		return NULL;
	}
	found = realpath(whole, NULL);
	if (!found) {
		err_set(err, ERR_INVALID, "%s", strerror(errno));
	} else if (strncmp(found, folder, len) != 0 || found[len] != '/') {
		err_set(err, ERR_INVALID, "lies outside of the folder %s", folder);
		free(found);
		found = NULL;
	}
	free(folder);
	return found;
}
