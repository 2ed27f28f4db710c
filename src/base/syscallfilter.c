/* SPDX-License-Identifier: Apache-2.0 */
#include "base/syscallfilter.h"

#include "config.h"

#ifdef HAVE_SECCOMP

#include <errno.h>
#include <fcntl.h>
#include <net/if.h>
#include <sched.h>
#include <seccomp.h>
#include <stdbool.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <termios.h>
#include <unistd.h>

#include "base/mem.h"

#ifndef PR_SET_VMA
#define PR_SET_VMA 0x53564d41 /* Linux 5.17; malloc names its memory */
#endif

/* Names that this architecture or libseccomp does not know are skipped. */
static const char allowed[] =
	/* memory */
	"brk munmap mremap madvise mlock mlock2 munlock membarrier "
	/* reading files, and open descriptors */
	"read pread64 preadv preadv2 readv write pwrite64 pwritev pwritev2 writev close close_range lseek _llseek "
	"fcntl fcntl64 dup dup2 dup3 stat stat64 lstat lstat64 fstat fstat64 newfstatat fstatat64 statx statfs "
	"statfs64 "
	"fstatfs fstatfs64 access faccessat faccessat2 readlink readlinkat getdents getdents64 getcwd readahead "
	"fadvise64 "
	"fadvise64_64 arm_fadvise64_64 fsync fdatasync sendfile sendfile64 splice tee inotify_init inotify_init1 "
	"inotify_add_watch inotify_rm_watch umask "
	/* memory files, pipes */
	"memfd_create ftruncate ftruncate64 fchmod pipe pipe2 eventfd eventfd2 "
	/* waiting */
	"epoll_create epoll_create1 epoll_ctl epoll_ctl_old epoll_wait epoll_wait_old epoll_pwait epoll_pwait2 poll "
	"ppoll "
	"ppoll_time64 select _newselect pselect6 pselect6_time64 timerfd_create timerfd_settime timerfd_settime64 "
	"timerfd_gettime timerfd_gettime64 signalfd signalfd4 pause nanosleep clock_nanosleep clock_nanosleep_time64 "
	"restart_syscall "
	/*
	 * connections, and accepting them on listeners opened before; bind is for net/sourcerules
	 */
	"socketcall bind connect accept accept4 shutdown getsockname getpeername getsockopt setsockopt send sendto "
	"sendmsg "
	"sendmmsg recv recvfrom recvmsg recvmmsg recvmmsg_time64 "
	/* signals, and threads that libraries may start */
	"futex futex_time64 futex_waitv set_robust_list get_robust_list rseq set_tid_address set_thread_area "
	"arch_prctl "
	"gettid sched_yield sched_getaffinity sched_getparam sched_getscheduler sched_get_priority_max "
	"sched_get_priority_min exit exit_group rt_sigaction rt_sigprocmask rt_sigreturn rt_sigpending rt_sigsuspend "
	"rt_sigtimedwait rt_sigtimedwait_time64 sigaction sigprocmask sigreturn sigpending sigsuspend sigaltstack "
	/* clocks, random numbers, and properties of the process */
	"clock_gettime clock_gettime64 clock_getres clock_getres_time64 gettimeofday time times alarm setitimer "
	"getitimer "
	"getrandom getpid getppid getpgrp getpgid getsid getuid getuid32 geteuid geteuid32 getgid getgid32 getegid "
	"getegid32 getresuid getresuid32 getresgid getresgid32 getgroups getgroups32 capget uname sysinfo getrusage "
	"getrlimit ugetrlimit getcpu";

/* For a process that may replace files. */
static const char replacing[] = "unlink unlinkat rename renameat renameat2";

static const char refused[] =
	"execve execveat fork vfork creat openat2 truncate truncate64 mkdir mkdirat rmdir link linkat symlink "
	"symlinkat mknod mknodat chmod fchmodat fchmodat2 chown chown32 lchown lchown32 "
	"fchown fchown32 fchownat utime utimes utimensat utimensat_time64 futimesat fallocate setxattr lsetxattr "
	"fsetxattr removexattr lremovexattr fremovexattr chdir fchdir listen rt_sigqueueinfo rt_tgsigqueueinfo "
	"pidfd_send_signal pidfd_open pidfd_getfd setuid setuid32 setgid setgid32 setreuid setreuid32 setregid "
	"setregid32 setresuid setresuid32 setresgid setresgid32 setgroups setgroups32 setsid setpgid capset setrlimit "
	"keyctl add_key request_key perf_event_open shmget shmat msgget semget";

static const char deadly[] =
	"ptrace process_vm_readv process_vm_writev init_module finit_module delete_module kexec_load "
	"kexec_file_load reboot swapon swapoff mount umount umount2 mount_setattr move_mount open_tree fsopen fsconfig "
	"fsmount fspick pivot_root chroot setns unshare bpf userfaultfd open_by_handle_at quotactl acct syslog iopl "
	"ioperm modify_ldt settimeofday stime clock_settime clock_settime64 adjtimex clock_adjtime clock_adjtime64 "
	"sethostname setdomainname vhangup";

#ifdef __s390__
#define CLONE_FLAGS 1
#else
#define CLONE_FLAGS 0
#endif

/* Calls that are allowed for certain arguments: if value == (argument & mask). */
#define WHOLE UINT64_MAX
static const struct by_argument {
	const char *names;
	unsigned argument;
	uint64_t mask, value;
} by_argument[] = {
	/* Families as in the systemd unit. Netlink: the resolver reads the host's addresses. */
	{ "socket", 0, WHOLE, AF_UNIX },
	{ "socket", 0, WHOLE, AF_INET },
	{ "socket", 0, WHOLE, AF_INET6 },
	{ "socket", 0, WHOLE, AF_NETLINK },
	{ "socketpair", 0, WHOLE, AF_UNIX },
	/* Executable memory is never writable, and writable memory never becomes executable. */
	{ "mmap mmap2", 2, PROT_EXEC, 0 },
	{ "mmap mmap2", 2, PROT_EXEC | PROT_WRITE, PROT_EXEC },
	{ "mprotect pkey_mprotect", 2, PROT_EXEC, 0 },
#ifdef __aarch64__
	/* The loader marks code for branch protection (BTI). */
	{ "mprotect pkey_mprotect", 2, PROT_EXEC | PROT_WRITE, PROT_EXEC },
#endif
	/*
	 * Threads, not processes. clone3 is on no list, as its flags are in memory: libc uses
	 * clone.
	 */
	{ "clone", CLONE_FLAGS, CLONE_THREAD, CLONE_THREAD },
	/* Only for reading. */
	{ "open", 1, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY },
	{ "openat", 2, O_ACCMODE | O_CREAT | O_TRUNC, O_RDONLY },
	/* Of this process only. */
	{ "prlimit64", 0, WHOLE, 0 },
	{ "ioctl", 1, UINT32_MAX, FIONBIO },
	{ "ioctl", 1, UINT32_MAX, FIONREAD },
	{ "ioctl", 1, UINT32_MAX, FIOCLEX },
	{ "ioctl", 1, UINT32_MAX, TCGETS },
	{ "ioctl", 1, UINT32_MAX, TIOCGWINSZ },
	{ "ioctl", 1, UINT32_MAX, TIOCOUTQ },
	{ "ioctl", 1, UINT32_MAX, SIOCGIFNAME },
	{ "ioctl", 1, UINT32_MAX, SIOCGIFINDEX },
	{ "prctl", 0, UINT32_MAX, PR_SET_NAME },
	{ "prctl", 0, UINT32_MAX, PR_GET_NAME },
	{ "prctl", 0, UINT32_MAX, PR_GET_DUMPABLE },
	{ "prctl", 0, UINT32_MAX, PR_SET_VMA },
};

/* The same calls with other arguments: EPERM, not ENOSYS, so that people see the reason. */
static const struct by_argument refused_by_argument[] = {
	{ "open", 1, O_ACCMODE | O_EXCL, O_WRONLY },
	{ "open", 1, O_ACCMODE, O_RDWR },
	{ "openat", 2, O_ACCMODE | O_EXCL, O_WRONLY },
	{ "openat", 2, O_ACCMODE, O_RDWR },
	{ "clone", CLONE_FLAGS, CLONE_THREAD, 0 },
};

/*
 * Creating a file: allowed to a process that may replace files, otherwise refused like the others.
 */
static const struct by_argument creating[] = {
	{ "open", 1, O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC, O_WRONLY | O_CREAT | O_EXCL },
	{ "openat", 2, O_ACCMODE | O_CREAT | O_EXCL | O_TRUNC, O_WRONLY | O_CREAT | O_EXCL },
};

struct filter {
	scmp_filter_ctx context;
	int failed; /* the first error, as a negative errno */
};

static void add_calls(struct filter *f, uint32_t action, const char *names, unsigned count,
	struct scmp_arg_cmp comparison)
{
	char name[64];

	for (const char *at = names; *at != '\0';) {
		size_t len = strcspn(at, " ");
		int number = __NR_SCMP_ERROR, failed = 0;

		if (len < sizeof(name)) {
			memcpy(name, at, len);
			name[len] = '\0';
			number = seccomp_syscall_resolve_name(name);
		}
		if (number != __NR_SCMP_ERROR)
			failed = seccomp_rule_add_array(f->context, action, number, count, &comparison);
		if (failed < 0 && failed != -EDOM && f->failed == 0) /* EDOM: not for this architecture */
			f->failed = failed;
		at += len + strspn(at + len, " ");
	}
}

static void add_all(struct filter *f, uint32_t action, const char *names)
{
	add_calls(f, action, names, 0, (struct scmp_arg_cmp){ 0 });
}

static void add_by_argument(struct filter *f, uint32_t action, const struct by_argument *b)
{
	struct scmp_arg_cmp same = { .arg = b->argument,
		.op = SCMP_CMP_MASKED_EQ,
		.datum_a = b->mask,
		.datum_b = b->value };

	add_calls(f, action, b->names, 1, same);
}

/* Allows signals to this process only: abort() sends one. */
static void add_signals(struct filter *f)
{
	add_by_argument(f, SCMP_ACT_ALLOW,
		&(struct by_argument){ "kill tkill tgkill", 0, UINT32_MAX, (uint64_t)getpid() });
}

static void set(struct filter *f, enum scmp_filter_attr attribute, uint32_t value)
{
	int failed = seccomp_attr_set(f->context, attribute, value);

	if (failed < 0 && f->failed == 0)
		f->failed = failed;
}

static void fill(struct filter *f, bool may_replace_files)
{
	uint32_t to_write = may_replace_files ? SCMP_ACT_ALLOW : SCMP_ACT_ERRNO(EPERM);

	set(f, SCMP_FLTATR_ACT_BADARCH, SCMP_ACT_KILL_PROCESS);
	set(f, SCMP_FLTATR_CTL_TSYNC, 1);
	/*
	 * Keeps older kernels from mitigating speculative store bypass, which slows the process
	 * down.
	 */
	set(f, SCMP_FLTATR_CTL_SSB, 1);
	set(f, SCMP_FLTATR_CTL_OPTIMIZE, 2); /* a binary tree: the list is long */
	add_all(f, SCMP_ACT_ALLOW, allowed);
	add_all(f, SCMP_ACT_ERRNO(EPERM), refused);
	add_all(f, SCMP_ACT_KILL_PROCESS, deadly);
	for (size_t i = 0; i < MEM_COUNT(by_argument); i++)
		add_by_argument(f, SCMP_ACT_ALLOW, &by_argument[i]);
	for (size_t i = 0; i < MEM_COUNT(refused_by_argument); i++)
		add_by_argument(f, SCMP_ACT_ERRNO(EPERM), &refused_by_argument[i]);
	add_all(f, to_write, replacing);
	for (size_t i = 0; i < MEM_COUNT(creating); i++)
		add_by_argument(f, to_write, &creating[i]);
	add_signals(f);
}

int syscallfilter_enter(bool may_replace_files, struct err *err)
{
	struct filter f = { .context = seccomp_init(SCMP_ACT_ERRNO(ENOSYS)) };

	if (!f.context)
		return err_set(err, ERR_INVALID, "libseccomp cannot make a filter");
	fill(&f, may_replace_files);
	if (f.failed == 0)
		f.failed = seccomp_load(f.context);
	seccomp_release(f.context);
	if (f.failed != 0)
		return err_set(err, ERR_INVALID, "no seccomp filter: %s", strerror(-f.failed));
	return 0;
}

#else

int syscallfilter_enter(bool may_replace_files, struct err *err)
{
	(void)may_replace_files;
	return err_set(err, ERR_INVALID, "built without libseccomp");
}

#endif
