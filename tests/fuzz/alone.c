/* SPDX-License-Identifier: Apache-2.0 */

/*
 * For targets that open sockets: the program leaves the machine's network for one of its own, which
 * has nothing but a loopback. What the fuzzer makes of an address, or of a name, is tried nowhere
 * else. libFuzzer runs without that do not begin; replay.c, whose inputs are all known, goes on.
 *
 * Here, and not at the first input, as libFuzzer has threads by then: a user other than root needs
 * a user namespace, too, which only a program with one thread may make.
 */

#include <errno.h>
#include <net/if.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include "fuzz.h"

static bool loopback_up(void)
{
	struct ifreq lo = { .ifr_name = "lo", .ifr_flags = IFF_UP };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	bool up = fd >= 0 && ioctl(fd, SIOCSIFFLAGS, &lo) == 0;

	close(fd);
	return up;
}

static bool leave(void)
{
	return unshare(CLONE_NEWNET) == 0 || unshare(CLONE_NEWUSER | CLONE_NEWNET) == 0;
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	(void)argv;
	if (!leave()) {
		fprintf(stderr, "# a network namespace of its own: %s\n", strerror(errno));
		if (argc)
			exit(1);
	} else {
		must(loopback_up());
	}
	return 0;
}
