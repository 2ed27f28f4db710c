/* SPDX-License-Identifier: Apache-2.0 */
#include "base/landlock.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/landlock.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/file.h"
#include "base/mem.h"

/* Rights of later versions, which the system's header may lack. */
#define FS_REFER     (UINT64_C(1) << 13)
#define FS_TRUNCATE  (UINT64_C(1) << 14)
#define FS_IOCTL_DEV (UINT64_C(1) << 15)
#define SCOPE_SIGNAL (UINT64_C(1) << 1)

#define FS_FIRST (LANDLOCK_ACCESS_FS_MAKE_SYM * 2 - 1) /* all rights of the first version */
#define FS_READ  (LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR)
#define FS_REPLACE                                                                                                     \
	(FS_READ | LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_REMOVE_FILE)

/*
 * struct landlock_ruleset_attr of version 6. Older kernels accept it if the fields they lack are 0.
 */
struct ruleset {
	uint64_t fs, net, scoped;
};

static const struct {
	int since;
	struct ruleset refused;
} versions[] = {
	{ 1, { .fs = FS_FIRST } },
	{ 2, { .fs = FS_REFER } },
	{ 3, { .fs = FS_TRUNCATE } },
	{ 5, { .fs = FS_IOCTL_DEV } },
	{ 6, { .scoped = SCOPE_SIGNAL } },
};

void landlock_begin(struct landlock *l)
{
	struct ruleset all = { 0 };
	long version = syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);

	*l = (struct landlock){ .version = version > 0 ? (int)version : 0, .rules_fd = -1 };
	for (size_t i = 0; i < MEM_COUNT(versions); i++) {
		if (l->version < versions[i].since)
			break;
		all.fs |= versions[i].refused.fs;
		all.scoped |= versions[i].refused.scoped;
	}
	if (l->version > 0)
		l->rules_fd = (int)syscall(SYS_landlock_create_ruleset, &all, sizeof(all), 0);
	if (l->rules_fd < 0)
		l->version = 0;
}

static bool allow_fd(struct landlock *l, int fd, uint64_t access)
{
	struct landlock_path_beneath_attr rule = { .parent_fd = fd, .allowed_access = access };
	struct stat st;

	if (fstat(fd, &st) < 0)
		return false;
	if (!S_ISDIR(st.st_mode))
		rule.allowed_access = LANDLOCK_ACCESS_FS_READ_FILE; /* for a file, any other right is an error */
	return l->version == 0 ||
		syscall(SYS_landlock_add_rule, l->rules_fd, LANDLOCK_RULE_PATH_BENEATH, &rule, 0) == 0;
}

static bool allow_path(struct landlock *l, const char *path, int flags, uint64_t access)
{
	int fd = open(path, flags | O_PATH | O_CLOEXEC);
	bool allowed = fd >= 0 && allow_fd(l, fd, access);
	int saved = errno;

	if (fd >= 0)
		close(fd);
	errno = saved;
	return allowed;
}

bool landlock_allow(struct landlock *l, const char *path)
{
	return allow_path(l, path, 0, FS_READ);
}

bool landlock_allow_replacing(struct landlock *l, const char *folder)
{
	return allow_path(l, folder, O_DIRECTORY, FS_REPLACE);
}

static void allow_folder_of(struct landlock *l, const char *path)
{
	MEM_AUTO char *folder = file_folder(path), *whole = realpath(folder, NULL);

	if (whole)
		landlock_allow(l, strcmp(whole, "/") != 0 ? whole : path);
}

void landlock_allow_file(struct landlock *l, const char *path)
{
	MEM_AUTO char *target = realpath(path, NULL);

	allow_folder_of(l, path);
	if (target)
		allow_folder_of(l, target);
}

int landlock_restrict(struct landlock *l, struct err *err)
{
	int failed = l->version == 0 || syscall(SYS_landlock_restrict_self, l->rules_fd, 0) != 0;

	if (failed)
		err_set(err, ERR_INVALID, "Landlock is not supported here");
	landlock_done(l);
	return failed ? -1 : 0;
}

void landlock_done(struct landlock *l)
{
	if (l->rules_fd >= 0)
		close(l->rules_fd);
	l->rules_fd = -1;
}
