/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/files.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fingerprint.h"
#include "base/mem.h"

static uint64_t stamp_of(const struct stat *st)
{
	uint64_t parts[5] = { (uint64_t)st->st_dev, (uint64_t)st->st_ino, (uint64_t)st->st_size, (uint64_t)st->st_mtim.tv_sec, (uint64_t)st->st_mtim.tv_nsec };
	uint64_t stamp = fingerprint_fast(parts, sizeof parts);

	return stamp ? stamp : 1;
}

static void remember(struct files *f, const char *path, uint64_t stamp)
{
	for (size_t i = 0; i < f->count; i++)
		if (strcmp(f->entries[i].path, path) == 0)
			return;
	f->entries = mem_resize(f->entries, f->count + 1, sizeof *f->entries);
	f->entries[f->count].path = mem_dup(path);
	f->entries[f->count].stamp = stamp;
	f->count++;
}

/* Reads what is there, at most cap bytes and one more, which tells that it is too much. -1: errno. */
static ssize_t read_all(int fd, char *into, size_t cap)
{
	size_t len = 0;

	while (len <= cap) {
		ssize_t n = read(fd, into + len, cap + 1 - len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -1;
		if (n == 0)
			break;
		len += (size_t)n;
	}
	return (ssize_t)len;
}

static int read_open(struct files *f, int fd, const char *path, size_t cap, char **text, size_t *len, struct err *err)
{
	struct stat st;
	char *into;
	ssize_t n;

	if (fstat(fd, &st) < 0)
		return err_set(err, ERR_INVALID, "%s: %s", path, strerror(errno));
	/* The stamp is taken before the content: a change in between is then seen by the next files_changed. */
	remember(f, path, stamp_of(&st));
	if (!S_ISREG(st.st_mode))
		return err_set(err, ERR_INVALID, "%s: not a regular file", path);
	if (st.st_size > (off_t)cap)
		return err_set(err, ERR_INVALID, "%s: larger than %zu bytes", path, cap);
	/* One size for all, since a file may grow while it is read; what is not needed is given back below. */
	into = mem_alloc(cap + 2);
	n = read_all(fd, into, cap);
	if (n < 0 || (size_t)n > cap) {
		int error = errno;

		mem_wipe(into, n < 0 ? 0 : (size_t)n);
		free(into);
		if (n < 0)
			return err_set(err, ERR_INVALID, "%s: %s", path, strerror(error));
		return err_set(err, ERR_INVALID, "%s: larger than %zu bytes", path, cap);
	}
	*text = mem_dupn(into, (size_t)n);
	*len = (size_t)n;
	mem_wipe(into, (size_t)n);
	free(into);
	return 0;
}

int files_read(struct files *f, const char *path, size_t cap, char **text, size_t *len, struct err *err)
{
	/* Not blocking: opening a FIFO must not stop the loop. */
	int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	int rc;

	if (fd < 0) {
		int error = errno;

		remember(f, path, 0);
		return err_set(err, error == ENOENT || error == ENOTDIR ? ERR_MISSING : ERR_INVALID, "%s: %s", path, strerror(error));
	}
	rc = read_open(f, fd, path, cap, text, len, err);
	close(fd);
	return rc;
}

bool files_changed(const struct files *f)
{
	for (size_t i = 0; i < f->count; i++) {
		struct stat st;
		uint64_t stamp = stat(f->entries[i].path, &st) == 0 ? stamp_of(&st) : 0;

		if (stamp != f->entries[i].stamp)
			return true;
	}
	return false;
}

void files_done(struct files *f)
{
	for (size_t i = 0; i < f->count; i++)
		free(f->entries[i].path);
	free(f->entries);
	*f = (struct files){ NULL, 0 };
}
