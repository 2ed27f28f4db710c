/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/systemd.h"

#include <errno.h>
#include <spawn.h>
#include <stdint.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

#define ARGUMENTS_MAX 8
#define NOT_INSTALLED 5 /* systemctl(1), of LSB: there is no such unit */

bool systemd_is_running(void)
{
	return access("/run/systemd/system", F_OK) == 0;
}

int systemd_control(const char *const *arguments, struct err *err)
{
	char *argv[ARGUMENTS_MAX + 2] = { (char[]){ "systemctl" } };
	int status, failed;
	pid_t child;

	for (size_t i = 0; i < ARGUMENTS_MAX && arguments[i]; i++)
		argv[i + 1] = (char *)(uintptr_t)arguments[i]; /* posix_spawn changes nothing */
	failed = posix_spawnp(&child, argv[0], NULL, NULL, argv, environ);
	if (failed)
		return err_set(err, ERR_TEMPORARY, "systemctl: %s", strerror(failed));
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return err_set(err, ERR_TEMPORARY, "systemctl: %s", strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return err_set(err, WIFEXITED(status) && WEXITSTATUS(status) == NOT_INSTALLED ? ERR_MISSING : ERR_TEMPORARY,
		"systemctl %s failed", arguments[0]);
}
