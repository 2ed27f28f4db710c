/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/file.h"
#include "base/landlock.h"
#include "base/mem.h"
#include "config.h"
#include "sandbox.h"

static char folder[] = "/tmp/test_sandbox.XXXXXX";

static char *in(const char *name)
{
	return mem_printf("%s/%s", folder, name);
}

static void make(const char *name)
{
	MEM_AUTO char *path = in(name);
	FILE *f;

	*strrchr(path, '/') = '\0';
	assert_true(mkdir(path, 0700) == 0 || errno == EEXIST);
	path[strlen(path)] = '/';
	f = fopen(path, "we");
	assert_non_null(f);
	assert_int_equal(fclose(f), 0);
}

static int set_up(void **state)
{
	static const char *const files[] = { "kube/config", "tls/cert", "key/key", "jwt/token", "auth/a", "vault/a",
		"ca1/a", "ca2/a", "state/token", "ssl/bundle", "other/a" };

	(void)state;
	assert_non_null(mkdtemp(folder));
	for (size_t i = 0; i < sizeof(files) / sizeof(files[0]); i++)
		make(files[i]);
	return 0;
}

static int tear_down(void **state)
{
	MEM_AUTO char *command = mem_printf("rm -rf '%s'", folder);

	(void)state;
	return system(command);
}

/* Logged lines: the first letter of the level, and the text. */
static char logged[4096];

static void on_line(void *arg, enum log_level level, const char *line)
{
	size_t len = strlen(logged);

	(void)arg;
	snprintf(logged + len, sizeof(logged) - len, "%d %s\n", (int)level, line);
}

static const char *replaced; /* for sandbox_enter */

/* In the child: with all options that name files. `more` changes them. */
static void enter(void (*more)(struct options *o))
{
	struct files_entry entry = { .path = in("kube/config") };
	struct files files = { .entries = &entry, .count = 1 };
	struct options o = { .sandbox = true,
		.tls_cert_file = in("tls/cert"),
		.tls_private_key_file = in("key/key"),
		.vault_jwt_file = in("jwt/token"),
		.filepath_auth_root_path = in("auth"),
		.vault_credential_dir = in("vault"),
		.ca_dir = mem_printf("%s/ca1,%s/ca2", folder, folder) };
	MEM_AUTO char *bundle = in("ssl/bundle");

	setenv("SSL_CERT_FILE", bundle, 1);
	log_set_sink(on_line, NULL);
	prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	if (more)
		more(&o);
	sandbox_enter(&o, &files, replaced);
}

/* 0, or the number of the check that failed in a confined process. */
static void entered(void (*more)(struct options *o), int (*say)(void))
{
	pid_t child = fork();
	int status;

	assert_true(child >= 0);
	if (child == 0) {
		enter(more);
		_exit(say());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

#define EXPECT(n, condition)                                                                                           \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			return n;                                                                                      \
	} while (0)

static int try_open(const char *name, int flags)
{
	MEM_AUTO char *path = *name == '/' ? mem_dup(name) : in(name);
	int fd = open(path, flags | O_CLOEXEC, 0600);

	if (fd < 0)
		return errno;
	close(fd);
	return 0;
}

static int say_named(void)
{
	EXPECT(1, try_open("kube/config", O_RDONLY) == 0);
	EXPECT(2, try_open("tls/cert", O_RDONLY) == 0);
	EXPECT(3, try_open("key/key", O_RDONLY) == 0);
	EXPECT(4, try_open("jwt/token", O_RDONLY) == 0);
	EXPECT(5, try_open("auth/a", O_RDONLY) == 0);
	EXPECT(6, try_open("vault/a", O_RDONLY) == 0);
	EXPECT(7, try_open("ca1/a", O_RDONLY) == 0);
	EXPECT(8, try_open("ca2/a", O_RDONLY) == 0);
	EXPECT(9, try_open("ssl/bundle", O_RDONLY) == 0);
	return 0;
}

static void what_options_name_is_read(void **state)
{
	(void)state;
	entered(NULL, say_named);
}

static int say_other(void)
{
	char *const nothing[] = { NULL };

	EXPECT(1, try_open("other/a", O_RDONLY) == EACCES);
	EXPECT(2, try_open("kube/new", O_WRONLY | O_CREAT) != 0);
	EXPECT(3, try_open("kube/config", O_RDWR) != 0);
	execve("/bin/true", nothing, nothing);
	EXPECT(4, errno == EPERM || errno == EACCES);
	return 0;
}

static void nothing_else_is_read_or_written_or_run(void **state)
{
	(void)state;
	entered(NULL, say_other);
}

static int say_replaced(void)
{
	MEM_AUTO char *token = in("state/token"), *elsewhere = in("kube/token");
	struct err err;

	EXPECT(1, file_replace(token, "new", 3, &err) == 0);
	EXPECT(2, try_open("state/token", O_RDONLY) == 0);
	EXPECT(3, file_replace(elsewhere, "new", 3, &err) < 0);
	EXPECT(4, rename(token, elsewhere) < 0);
	EXPECT(5, try_open("state/token", O_WRONLY) != 0);
	return 0;
}

static void one_file_is_replaced(void **state)
{
	MEM_AUTO char *token = in("state/token");

	(void)state;
	replaced = token;
	entered(NULL, say_replaced);
	entered(NULL, say_other);
	replaced = NULL;
}

static int say_system(void)
{
	EXPECT(1, try_open("/etc/passwd", O_RDONLY) == 0);
	EXPECT(2, try_open("/proc/self/statm", O_RDONLY) == 0);
	EXPECT(3, try_open("/dev/urandom", O_RDONLY) == 0);
	EXPECT(4, try_open("/usr", O_RDONLY | O_DIRECTORY) == 0);
	EXPECT(5, try_open("/proc/1/status", O_RDONLY) == EACCES);
	EXPECT(6, try_open("/", O_RDONLY | O_DIRECTORY) == EACCES);
	return 0;
}

static void what_libraries_need_is_read(void **state)
{
	(void)state;
	entered(NULL, say_system);
}

static void switch_off(struct options *o)
{
	o->sandbox = false;
}

static int say_off(void)
{
	EXPECT(1, try_open("other/a", O_RDWR) == 0);
	EXPECT(2, strstr(logged, "off: by option sandbox"));
	return 0;
}

static void the_option_switches_it_off(void **state)
{
	(void)state;
	entered(switch_off, say_off);
}

static int say_logged(void)
{
	const char *line = strchr(logged, '\n');

	EXPECT(1, strncmp(logged, "1 ", 2) == 0 || strncmp(logged, "2 ", 2) == 0);
	EXPECT(2, strstr(logged, "files by Landlock, version "));
	EXPECT(3, line && line[1] == '\0');
	return 0;
}

static void one_line_says_what_holds(void **state)
{
	(void)state;
	entered(NULL, say_logged);
}

static void name_no_folder(struct options *o)
{
	o->filepath_auth_root_path = in("missing");
}

static int say_missing(void)
{
	EXPECT(1, strstr(logged, "filepath-auth-root-path: "));
	EXPECT(2,
		strstr(logged,
			"/missing: No such file or directory; files created there later can be read only after a "
			"restart"));
	return 0;
}

static void a_folder_that_is_not_there_is_said(void **state)
{
	(void)state;
	entered(name_no_folder, say_missing);
}

/* Why this machine or build cannot say anything; NULL: it can. */
static const char *is_useless(void)
{
#ifdef INSTRUMENTED
	return "a build with sanitizers or coverage does not enter";
#else
	struct landlock l;
	bool none;

	landlock_begin(&l);
	none = l.version == 0;
	landlock_done(&l);
	return none ? "this kernel has no Landlock" : NULL;
#endif
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_options_name_is_read),
		cmocka_unit_test(nothing_else_is_read_or_written_or_run),
		cmocka_unit_test(one_file_is_replaced),
		cmocka_unit_test(what_libraries_need_is_read),
		cmocka_unit_test(the_option_switches_it_off),
		cmocka_unit_test(one_line_says_what_holds),
		cmocka_unit_test(a_folder_that_is_not_there_is_said),
	};

	if (is_useless()) {
		printf("1..0 # SKIP %s\n", is_useless());
		return 0;
	}
	return cmocka_run_group_tests(tests, set_up, tear_down);
}
