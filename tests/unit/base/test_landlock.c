/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/landlock.h"
#include "base/mem.h"

/*
 * A tree in a folder of its own:
 *     open/file, open/deep/file          allowed with the folder
 *     closed/file                        not allowed
 *     secret/..data -> ..1, secret/token -> ..data/token
 *     settings/config                    allowed as a file
 *     linked/config -> ../closed2/config
 */
static char folder[] = "/tmp/test_landlock.XXXXXX";
static int version;

static char *in(const char *name)
{
	return mem_printf("%s/%s", folder, name);
}

static void make_folder(const char *name)
{
	MEM_AUTO char *path = in(name);

	assert_int_equal(mkdir(path, 0700), 0);
}

static void make_file(const char *name, const char *text)
{
	MEM_AUTO char *path = in(name);
	FILE *f = fopen(path, "we");

	assert_non_null(f);
	fputs(text, f);
	assert_int_equal(fclose(f), 0);
}

static void make_link(const char *to, const char *name)
{
	MEM_AUTO char *path = in(name);

	assert_int_equal(symlink(to, path), 0);
}

static void move(const char *from, const char *to)
{
	MEM_AUTO char *old = in(from), *new = in(to);

	assert_int_equal(rename(old, new), 0);
}

static int set_up(void **state)
{
	static const char *const folders[] = { "open", "open/deep", "closed", "closed2", "secret", "secret/..1",
		"settings", "linked" };

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < sizeof(folders) / sizeof(folders[0]); i++)
		make_folder(folders[i]);
	make_file("open/file", "1");
	make_file("open/deep/file", "1");
	make_file("closed/file", "1");
	make_file("closed2/config", "1");
	make_file("settings/config", "1");
	make_file("secret/..1/token", "1");
	make_link("..1", "secret/..data");
	make_link("..data/token", "secret/token");
	make_link("../closed2/config", "linked/config");
	return 0;
}

static int tear_down(void **state)
{
	MEM_AUTO char *command = mem_printf("rm -rf '%s'", folder);

	(void)state;
	return system(command);
}

/* The errno of opening it so, or 0. */
static int try_open(const char *name, int flags)
{
	MEM_AUTO char *path = *name == '/' ? mem_dup(name) : in(name);
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

/* The first character of the file, or 0. */
static char first_of(const char *name)
{
	MEM_AUTO char *path = in(name);
	char c = 0;
	int fd = open(path, O_RDONLY | O_CLOEXEC);

	if (fd < 0 || read(fd, &c, 1) != 1)
		c = 0;
	if (fd >= 0)
		close(fd);
	return c;
}

static void confine(void)
{
	MEM_AUTO char *open_ = in("open"), *token = in("secret/token"), *config = in("settings/config"),
		      *linked = in("linked/config"), *missing = in("missing");
	struct landlock l;
	struct err err;

	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	landlock_begin(&l);
	if (!landlock_allow(&l, open_) || landlock_allow(&l, missing) || errno != ENOENT)
		_exit(100);
	landlock_allow_file(&l, token);
	landlock_allow_file(&l, config);
	landlock_allow_file(&l, linked);
	if (landlock_restrict(&l, &err))
		_exit(101);
}

/*
 * The result of `say` in a confined process: 0, or the line where it failed (below 100). Uses
 * nothing of cmocka.
 */
static void confined(int (*say)(const int pipes[2]), void (*meanwhile)(void))
{
	int pipes[2], status;
	pid_t child;

	assert_int_equal(pipe2(pipes, O_CLOEXEC), 0);
	child = fork();
	assert_true(child >= 0);
	if (child == 0) {
		close(pipes[1]);
		confine();
		_exit(say(pipes));
	}
	close(pipes[0]);
	if (meanwhile)
		meanwhile();
	close(pipes[1]);
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

#define EXPECT(n, condition)                                                                                           \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			return n;                                                                                      \
	} while (0)

static int say_reading(const int pipes[2])
{
	(void)pipes;
	EXPECT(1, try_open("open/file", O_RDONLY) == 0);
	EXPECT(2, try_open("open/deep/file", O_RDONLY) == 0);
	EXPECT(3, try_open("open", O_RDONLY | O_DIRECTORY) == 0);
	EXPECT(4, try_open("closed/file", O_RDONLY) == EACCES);
	EXPECT(5, try_open("closed", O_RDONLY | O_DIRECTORY) == EACCES);
	EXPECT(6, try_open("/etc/passwd", O_RDONLY) == EACCES);
	EXPECT(7, try_open("settings/config", O_RDONLY) == 0);
	EXPECT(8, try_open("linked/config", O_RDONLY) == 0);
	EXPECT(9, try_open("secret/token", O_RDONLY) == 0);
	return 0;
}

static void only_allowed_files_are_read(void **state)
{
	(void)state;
	confined(say_reading, NULL);
}

static int say_writing(const int pipes[2])
{
	MEM_AUTO char *file = in("open/file"), *other = in("open/other");

	(void)pipes;
	EXPECT(1, try_open("open/file", O_WRONLY) == EACCES);
	EXPECT(2, try_open("open/new", O_WRONLY | O_CREAT) == EACCES);
	EXPECT(3, unlink(file) < 0 && errno == EACCES);
	EXPECT(4, rename(file, other) < 0 && errno == EACCES);
	EXPECT(5, mkdir(other, 0700) < 0 && errno == EACCES);
	EXPECT(6, symlink("x", other) < 0 && errno == EACCES);
	return 0;
}

static void nothing_is_written(void **state)
{
	(void)state;
	confined(say_writing, NULL);
}

static int say_running(const int pipes[2])
{
	char *const nothing[] = { NULL };

	(void)pipes;
	execve("/bin/true", nothing, nothing);
	EXPECT(1, errno == EACCES);
	return 0;
}

static void nothing_is_run(void **state)
{
	(void)state;
	confined(say_running, NULL);
}

/* As the MariaDB connector reads the files we keep for it. */
static int say_memory_file(const int pipes[2])
{
	int fd = memfd_create("x", MFD_CLOEXEC);
	char path[32];

	(void)pipes;
	EXPECT(1, fd >= 0 && write(fd, "abc", 3) == 3);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	EXPECT(2, try_open(path, O_RDONLY) == 0);
	return 0;
}

static void memory_files_are_still_there(void **state)
{
	(void)state;
	confined(say_memory_file, NULL);
}

static int say_signals(const int pipes[2])
{
	(void)pipes;
	EXPECT(1, kill(getpid(), 0) == 0);
	EXPECT(2, version < 6 || (kill(getppid(), 0) < 0 && errno == EPERM));
	return 0;
}

static void others_are_sent_no_signals(void **state)
{
	(void)state;
	confined(say_signals, NULL);
}

static void turn(void)
{
	make_folder("secret/..2");
	make_file("secret/..2/token", "2");
	make_link("..2", "secret/..data_tmp");
	move("secret/..data_tmp", "secret/..data");
	make_file("settings/config.new", "2");
	move("settings/config.new", "settings/config");
	make_file("closed2/config.new", "2");
	move("closed2/config.new", "closed2/config");
}

static int say_turned(const int pipes[2])
{
	char end;

	EXPECT(1, read(pipes[0], &end, 1) == 0); /* until everything is turned */
	EXPECT(2, first_of("secret/token") == '2');
	EXPECT(3, first_of("settings/config") == '2');
	EXPECT(4, first_of("linked/config") == '2');
	return 0;
}

static void rotated_files_are_read(void **state)
{
	(void)state;
	confined(say_turned, turn);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(only_allowed_files_are_read),
		cmocka_unit_test(nothing_is_written),
		cmocka_unit_test(nothing_is_run),
		cmocka_unit_test(memory_files_are_still_there),
		cmocka_unit_test(others_are_sent_no_signals),
		cmocka_unit_test(rotated_files_are_read),
	};
	struct landlock l;

	landlock_begin(&l);
	version = l.version;
	landlock_done(&l);
	if (version == 0) {
		puts("1..0 # SKIP this kernel has no Landlock");
		return 0;
	}
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
