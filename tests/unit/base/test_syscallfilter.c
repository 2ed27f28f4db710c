/* SPDX-License-Identifier: Apache-2.0 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
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
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/syscallfilter.h"

/* How a process ends that filters its system calls and then does `act`: the status of waitpid. */
static bool may_replace_files;

static int status_of(int (*act)(void))
{
	struct err err;
	int status;
	pid_t child = fork();

	assert_true(child >= 0);
	if (child == 0) {
		prctl(PR_SET_DUMPABLE, 0, 0, 0, 0); /* no core */
		prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
		_exit(syscallfilter_enter(may_replace_files, &err) ? 101 : act());
	}
	assert_int_equal(waitpid(child, &status, 0), child);
	return status;
}

#define EXPECT(n, condition)                                                                                           \
	do {                                                                                                           \
		if (!(condition))                                                                                      \
			return n;                                                                                      \
	} while (0)
#define REFUSED(call, number) ((call) < 0 && errno == (number))

static void expect_well(int (*act)(void))
{
	int status = status_of(act);

	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void expect_killed(int (*act)(void))
{
	int status = status_of(act);

	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGSYS);
}

static int run_programs(void)
{
	char *const nothing[] = { NULL };

	EXPECT(1, REFUSED(execve("/bin/true", nothing, nothing), EPERM));
	EXPECT(2, REFUSED(syscall(SYS_execveat, AT_FDCWD, "/bin/true", nothing, nothing, 0), EPERM));
	EXPECT(3, REFUSED(fork(), EPERM));
	EXPECT(4, system("true") != 0);
	EXPECT(5, popen("true", "r") == NULL);
	return 0;
}

static void no_program_is_run(void **state)
{
	(void)state;
	expect_well(run_programs);
}

static int use_files(void)
{
	char path[32];
	int fd;

	EXPECT(1, close(open("/etc/passwd", O_RDONLY | O_CLOEXEC)) == 0);
	EXPECT(2, REFUSED(open("/dev/null", O_WRONLY | O_CLOEXEC), EPERM));
	EXPECT(3, REFUSED(open("/dev/null", O_RDWR | O_CLOEXEC), EPERM));
	EXPECT(4, REFUSED(open("/tmp/test_syscallfilter", O_RDWR | O_CREAT | O_CLOEXEC, 0600), EPERM));
	EXPECT(5, open("/tmp/test_syscallfilter", O_RDONLY | O_CREAT | O_CLOEXEC, 0600) < 0);
	EXPECT(11, REFUSED(open("/tmp/test_syscallfilter", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600), EPERM));
	EXPECT(6, REFUSED(unlink("/tmp/test_syscallfilter"), EPERM));
	EXPECT(7, REFUSED(mkdir("/tmp/test_syscallfilter", 0700), EPERM));
	EXPECT(8, REFUSED(chdir("/"), EPERM));
	fd = memfd_create("x", MFD_CLOEXEC);
	EXPECT(9, fd >= 0 && write(fd, "abc", 3) == 3 && fchmod(fd, 0600) == 0);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	EXPECT(10, close(open(path, O_RDONLY | O_CLOEXEC)) == 0);
	return 0;
}

static void files_are_read_only(void **state)
{
	(void)state;
	expect_well(use_files);
}

static int replace_files(void)
{
	int fd = open("/tmp/test_syscallfilter.new", O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);

	EXPECT(1, fd >= 0 && write(fd, "x", 1) == 1 && fsync(fd) == 0 && close(fd) == 0);
	EXPECT(2, rename("/tmp/test_syscallfilter.new", "/tmp/test_syscallfilter") == 0);
	EXPECT(3, REFUSED(open("/tmp/test_syscallfilter", O_WRONLY | O_CLOEXEC), EPERM));
	EXPECT(4, REFUSED(open("/tmp/test_syscallfilter", O_RDWR | O_CLOEXEC), EPERM));
	EXPECT(5, open("/tmp/test_syscallfilter", O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) < 0);
	EXPECT(6, unlink("/tmp/test_syscallfilter") == 0);
	EXPECT(7, REFUSED(mkdir("/tmp/test_syscallfilter", 0700), EPERM));
	return 0;
}

/* By file_replace of base/file, and in no other way. */
static void files_may_be_replaced(void **state)
{
	(void)state;
	may_replace_files = true;
	expect_well(replace_files);
	expect_well(run_programs);
	may_replace_files = false;
}

static int use_sockets(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), pair[2];

	EXPECT(1, fd >= 0 && bind(fd, (const struct sockaddr *)&any, sizeof(any)) == 0); /* net/sourcerules */
	EXPECT(2, socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) == 0);
	EXPECT(3, socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0) >= 0 || errno == EAFNOSUPPORT);
	EXPECT(4, socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0) >= 0);
	EXPECT(5, REFUSED(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0), ENOSYS));
	EXPECT(6, REFUSED(socket(AF_ALG, SOCK_SEQPACKET | SOCK_CLOEXEC, 0), ENOSYS));
	fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	EXPECT(7, REFUSED(listen(fd, 1), EPERM));
	return 0;
}

static void sockets_ask_and_open_no_port(void **state)
{
	(void)state;
	expect_well(use_sockets);
}

static void *in_thread(void *arg)
{
	*(int *)arg = 1;
	return NULL;
}

static int use_threads(void)
{
	pthread_t thread;
	int done = 0;

	EXPECT(1, pthread_create(&thread, NULL, in_thread, &done) == 0);
	EXPECT(2, pthread_join(thread, NULL) == 0 && done == 1);
	return 0;
}

static void libraries_may_have_threads(void **state)
{
	(void)state;
	expect_well(use_threads);
}

static int use_memory(void)
{
	size_t size = (size_t)sysconf(_SC_PAGESIZE);
	void *page = mmap(NULL, size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	void *big = malloc(64u << 20);

	EXPECT(1, page != MAP_FAILED && big != NULL);
	free(big);
	EXPECT(2, mprotect(page, size, PROT_READ) == 0);
	EXPECT(3, mprotect(page, size, PROT_READ | PROT_WRITE | PROT_EXEC) < 0);
	EXPECT(4,
		mmap(NULL, size, PROT_READ | PROT_WRITE | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) == MAP_FAILED);
	return 0;
}

static void memory_is_never_written_and_run(void **state)
{
	(void)state;
	expect_well(use_memory);
}

static int use_signals(void)
{
	EXPECT(1, kill(getpid(), 0) == 0);
	EXPECT(2, kill(getppid(), 0) < 0);
	return 0;
}

static void others_are_sent_no_signals(void **state)
{
	(void)state;
	expect_well(use_signals);
}

static int say_abort(void)
{
	abort();
}

static void an_abort_is_one(void **state)
{
	int status = status_of(say_abort);

	(void)state;
	assert_true(WIFSIGNALED(status));
	assert_int_equal(WTERMSIG(status), SIGABRT);
}

static int use_newer(void)
{
	EXPECT(1, REFUSED(syscall(SYS_io_uring_setup, 1, NULL), ENOSYS));
	EXPECT(2, REFUSED(syscall(100000), ENOSYS));
	return 0;
}

static void unlisted_calls_do_not_exist(void **state)
{
	(void)state;
	expect_well(use_newer);
}

static int do_trace(void)
{
	return (int)ptrace(PTRACE_TRACEME, 0, NULL, NULL);
}

static int do_mount(void)
{
	return mount("none", "/nonexistent", "tmpfs", 0, NULL);
}

static int do_bpf(void)
{
	return (int)syscall(SYS_bpf, 0, NULL, 0);
}

static int do_module(void)
{
	return (int)syscall(SYS_finit_module, -1, "", 0);
}

static int do_namespace(void)
{
	return (int)syscall(SYS_unshare, 0);
}

static void an_intruders_calls_kill(void **state)
{
	(void)state;
	expect_killed(do_trace);
	expect_killed(do_mount);
	expect_killed(do_bpf);
	expect_killed(do_module);
	expect_killed(do_namespace);
}

static int nothing(void)
{
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(no_program_is_run),
		cmocka_unit_test(files_are_read_only),
		cmocka_unit_test(files_may_be_replaced),
		cmocka_unit_test(sockets_ask_and_open_no_port),
		cmocka_unit_test(libraries_may_have_threads),
		cmocka_unit_test(memory_is_never_written_and_run),
		cmocka_unit_test(others_are_sent_no_signals),
		cmocka_unit_test(an_abort_is_one),
		cmocka_unit_test(unlisted_calls_do_not_exist),
		cmocka_unit_test(an_intruders_calls_kill),
	};

	if (WEXITSTATUS(status_of(nothing)) == 101) {
		puts("1..0 # SKIP built without libseccomp, or this kernel has no seccomp");
		return 0;
	}
	return cmocka_run_group_tests(tests, NULL, NULL);
}
