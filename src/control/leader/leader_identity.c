/* SPDX-License-Identifier: Apache-2.0 */
#include "control/leader/leader.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/fingerprint.h"
#include "base/mem.h"

#define NONCE_DIGITS 16
#define TRIES        3 /* another process may create the file at the same time */

/* Not unique by itself: hosts, and the processes on one, may share a name. */
static char *own_name(const char *pod)
{
	char host[256] = "";

	if (pod)
		return mem_dup(pod);
	if (gethostname(host, sizeof host - 1) != 0 || !host[0])
		return mem_dup("kscaled");
	return mem_dup(host);
}

enum found { FOUND_GOOD, FOUND_BAD, FOUND_NONE, FOUND_ERROR /* errno */ };

static enum found read_nonce(const char *path, char nonce[NONCE_DIGITS + 1])
{
	char text[64] = "";
	ssize_t len;
	int saved, fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);

	if (fd < 0)
		return errno == ENOENT ? FOUND_NONE : FOUND_ERROR;
	len = read(fd, text, sizeof text - 1);
	saved = errno;
	close(fd);
	errno = saved;
	if (len < 0)
		return FOUND_ERROR;
	/* 16 hex digits and at most a newline. */
	if (len == NONCE_DIGITS + 1 && text[NONCE_DIGITS] == '\n')
		len--;
	if (len != NONCE_DIGITS || strspn(text, "0123456789abcdef") < NONCE_DIGITS)
		return FOUND_BAD;
	memcpy(nonce, text, NONCE_DIGITS);
	nonce[NONCE_DIGITS] = '\0';
	return FOUND_GOOD;
}

/*
 * Atomically: writes another file, which is linked (if the file was created meanwhile, that one
 * wins) or, over a bad one, renamed.
 */
static int store_nonce(const char *path, const char *nonce, bool over)
{
	MEM_AUTO char *aside = mem_printf("%s.XXXXXX", path);
	MEM_AUTO char *line = mem_printf("%s\n", nonce);
	ssize_t len = (ssize_t)strlen(line), done;
	int fd = mkostemp(aside, O_CLOEXEC), saved, rc; /* mode 0600 */

	if (fd < 0)
		return -1;
	done = write(fd, line, (size_t)len);
	if (done >= 0 && done != len)
		errno = ENOSPC;
	rc = done == len ? fsync(fd) : -1;
	saved = errno;
	close(fd);
	if (rc == 0) {
		rc = over ? rename(aside, path) : link(aside, path);
		if (rc != 0 && !over && (errno == EPERM || errno == ENOTSUP)) /* a file system without hard links */
			rc = rename(aside, path);
		saved = errno;
	}
	unlink(aside);
	errno = saved;
	return rc;
}

/* nonce: a new one; replaced by the stored one, if there is one. */
static int keep_nonce(const char *path, char nonce[NONCE_DIGITS + 1])
{
	for (int i = 0; i < TRIES; i++) {
		enum found found = read_nonce(path, nonce);

		if (found == FOUND_GOOD)
			return 0;
		if (found == FOUND_ERROR)
			return -1;
		if (store_nonce(path, nonce, found == FOUND_BAD) != 0 && errno != EEXIST)
			return -1;
	}
	errno = EEXIST;
	return read_nonce(path, nonce) == FOUND_GOOD ? 0 : -1;
}

char *leader_identity(const char *configured, const char *pod, const char *state_dir, char **warning)
{
	MEM_AUTO char *name = NULL, *path = NULL;
	char nonce[NONCE_DIGITS + 1];

	*warning = NULL;
	if (configured && configured[0])
		return mem_dup(configured);
	name = own_name(pod);
	snprintf(nonce, sizeof nonce, "%016llx", (unsigned long long)fingerprint_random());
	if (state_dir && state_dir[0]) {
		path = mem_printf("%s/identity", state_dir);
		mkdir(state_dir, 0700); /* if it fails, the next step reports why */
		if (keep_nonce(path, nonce) != 0)
			*warning = mem_printf("%s cannot be kept: %s; a restart of this process will wait until its "
					      "own Lease expires (set --state-dir to a folder that can be written, or "
					      "--identity)",
				path, strerror(errno));
	}
	return mem_printf("%s_%s", name, nonce);
}
