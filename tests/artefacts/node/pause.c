/* SPDX-License-Identifier: Apache-2.0 */
/*
 * All of the image that stands for registry.k8s.io/pause: what holds a Pod's namespaces together,
 * and a workload's container. It waits for TERM; with an argument, that many seconds at most, and
 * its exit status is 0 then: work that has an end.
 */

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

static void end(int signal)
{
	(void)signal;
	_exit(0);
}

static void reap(int signal)
{
	(void)signal;
	while (waitpid(-1, NULL, WNOHANG) > 0)
		;
}

int main(int argc, char **argv)
{
	signal(SIGTERM, end);
	signal(SIGINT, end);
	signal(SIGALRM, end);
	signal(SIGCHLD, reap);
	if (argc > 1)
		alarm((unsigned)atoi(argv[1]));
	for (;;)
		pause();
}
