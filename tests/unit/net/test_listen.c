/* SPDX-License-Identifier: Apache-2.0 */
/* Unix sockets: owner of the file, what it may replace, who may open it. */
#include "net/listen.h"

#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

static char folder[] = "/tmp/listen-XXXXXX", path[64];

static int set_up(void **state)
{
	(void)state;
	strcpy(folder + strlen(folder) - 6, "XXXXXX");
	if (!mkdtemp(folder))
		return -1;
	snprintf(path, sizeof(path), "%s/s", folder);
	return 0;
}

static int tear_down(void **state)
{
	(void)state;
	unlink(path);
	return rmdir(folder); /* nothing else was left there */
}

static int try_to_open(void)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0), failed;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	failed = connect(fd, (struct sockaddr *)&address, sizeof(address)) ? errno : 0;
	close(fd);
	return failed;
}

static int opened(const char *group)
{
	struct err err = { 0 };
	int fd = listen_unix(path, group, &err);

	if (fd < 0)
		fail_msg("%s", err.msg);
	return fd;
}

static void refused(const char *at, const char *group, enum err_kind kind, const char *message)
{
	struct err err = { 0 };

	assert_int_equal(listen_unix(at, group, &err), -1);
	assert_int_equal(err.kind, kind);
	if (!strstr(err.msg, message))
		fail_msg("%s", err.msg);
}

static void assert_mode(mode_t mode)
{
	struct stat st;

	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISSOCK(st.st_mode));
	assert_int_equal(st.st_mode & 07777, mode);
}

static void no_other_user_may_open_it(void **state)
{
	mode_t before = umask(0);
	int fd = opened(NULL);

	(void)state;
	assert_mode(0600);
	assert_int_equal(try_to_open(), 0);
	assert_int_equal(listen_port(fd), 0);
	assert_true(fcntl(fd, F_GETFL) & O_NONBLOCK);
	assert_true(fcntl(fd, F_GETFD) & FD_CLOEXEC);
	listen_unlink(fd);
	close(fd);
	assert_int_equal(try_to_open(), ENOENT);
	umask(before);
}

static void a_group_may(void **state)
{
	mode_t before = umask(077); /* as the systemd unit has it */
	char group[16];
	int fd;

	(void)state;
	snprintf(group, sizeof(group), "%u", (unsigned)getegid());
	fd = opened(group);
	assert_mode(0660);
	close(fd);
	if (geteuid() == 0) {
		struct stat st;

		fd = opened("54321");
		assert_int_equal(lstat(path, &st), 0);
		assert_int_equal(st.st_gid, 54321);
		assert_mode(0660);
		close(fd);
		fd = opened("root");
		assert_mode(0660);
		close(fd);
	}
	umask(before);
	unlink(path);
	refused(path, "no-such-group", ERR_INVALID, "there is no group \"no-such-group\" on this host");
	refused(path, "12x", ERR_INVALID, "there is no group \"12x\"");
	assert_int_equal(try_to_open(), ENOENT); /* a failure leaves nothing */
}

static void a_dead_processs_socket_is_replaced(void **state)
{
	int fd = opened(NULL);

	(void)state;
	close(fd);
	assert_int_equal(try_to_open(), ECONNREFUSED);
	fd = opened(NULL);
	assert_int_equal(try_to_open(), 0);
	close(fd);
}

static void a_live_socket_is_left_alone(void **state)
{
	int fd = opened(NULL);

	(void)state;
	refused(path, NULL, ERR_CONFLICT, "/s: another process answers there");
	assert_int_equal(try_to_open(), 0);
	/* Also when it is too busy to. */
	for (int i = 0; i < 5; i++)
		try_to_open();
	assert_int_equal(listen(fd, 0), 0);
	refused(path, NULL, ERR_CONFLICT, "another process answers there");
	close(fd);
}

static void no_other_file_is_removed(void **state)
{
	struct stat st;
	int fd = open(path, O_CREAT | O_WRONLY | O_CLOEXEC, 0600);

	(void)state;
	close(fd);
	refused(path, NULL, ERR_INVALID, "/s: exists and is not a socket; it is not removed");
	assert_int_equal(unlink(path), 0);
	assert_int_equal(symlink("/nowhere", path), 0);
	refused(path, NULL, ERR_INVALID, "is not a socket");
	assert_int_equal(lstat(path, &st), 0);
	assert_true(S_ISLNK(st.st_mode));
	unlink(path);
	assert_int_equal(mkdir(path, 0700), 0);
	refused(path, NULL, ERR_INVALID, "is not a socket");
	assert_int_equal(rmdir(path), 0);
}

static void paths_that_cannot_be(void **state)
{
	char longest[120];

	(void)state;
	refused("/no/such/folder/s", NULL, ERR_INVALID, "/no/such/folder/s: No such file or directory");
	snprintf(longest, sizeof(longest), "%s/%0*d", folder, (int)(107 - strlen(folder) - 1), 0);
	{
		int fd = listen_unix(longest, NULL, NULL);

		assert_true(fd >= 0);
		listen_unlink(fd);
		close(fd);
	}
	strcat(longest, "0");
	refused(longest, NULL, ERR_INVALID, "a Unix socket's path has at most 107 bytes, this one 108");
}

/* At its end a process removes its own file, and no other's. */
static void the_place_may_be_another_s_by_then(void **state)
{
	int first = opened(NULL), second;

	(void)state;
	unlink(path);
	second = opened(NULL);
	listen_unlink(first);
	close(first);
	assert_int_equal(try_to_open(), 0);
	listen_unlink(second);
	listen_unlink(second);
	close(second);
	assert_int_equal(try_to_open(), ENOENT);
	second = listen_tcp("127.0.0.1", 0, NULL);
	listen_unlink(second); /* nothing to remove */
	assert_true(listen_port(second) > 0);
	close(second);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(no_other_user_may_open_it),
		TEST(a_group_may),
		TEST(a_dead_processs_socket_is_replaced),
		TEST(a_live_socket_is_left_alone),
		TEST(no_other_file_is_removed),
		TEST(paths_that_cannot_be),
		TEST(the_place_may_be_another_s_by_then),
	};

	return cmocka_run_group_tests_name("net/listen", tests, NULL, NULL);
}
