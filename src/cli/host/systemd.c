/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/host/systemd.h"

#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"

extern char **environ;

#define WORDS_MAX     (64 << 10)
#define NOT_INSTALLED 5 /* systemctl(1), by LSB: no such unit */

bool systemd_is_running(void)
{
	return access("/run/systemd/system", F_OK) == 0;
}

static int wait_for(pid_t child)
{
	int status;

	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

/* posix_spawn changes no argument. out: its standard output; -1: ours. Returns an errno. */
static int start(const char *const *argv, int out, pid_t *child)
{
	posix_spawn_file_actions_t actions;
	int failed;

	posix_spawn_file_actions_init(&actions);
	if (out >= 0)
		posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	failed = posix_spawnp(child, argv[0], &actions, NULL, (char *const *)(uintptr_t)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return failed;
}

char *systemd_last_words(void)
{
	static const char *const argv[] = { "journalctl", "--unit=" SYSTEMD_UNIT, "--lines=5", "--no-pager",
		"--output=cat", "--quiet", NULL };
	struct buf text = BUF_INIT(WORDS_MAX);
	MEM_AUTO char *copy = NULL;
	const char *words = "";
	pid_t child;
	int ends[2];
	bool started;

	if (pipe2(ends, O_CLOEXEC) < 0)
		return NULL;
	started = start(argv, ends[1], &child) == 0;
	close(ends[1]);
	if (started && file_read_fd(ends[0], &text) == 0) {
		copy = buf_take(&text);
		words = text_trim(copy, " \n");
	}
	close(ends[0]);
	if (started)
		wait_for(child);
	buf_done(&text);
	return *words ? mem_dup(words) : NULL;
}

int systemd_control(const char *verb, struct err *err)
{
	const char *const argv[] = { "systemctl", verb, SYSTEMD_UNIT, NULL };
	pid_t child;
	int failed = start(argv, -1, &child), status = failed ? -1 : wait_for(child);

	if (status < 0)
		return err_set(err, ERR_TEMPORARY, "systemctl: %s", strerror(failed ? failed : errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return err_set(err, WIFEXITED(status) && WEXITSTATUS(status) == NOT_INSTALLED ? ERR_MISSING : ERR_TEMPORARY,
		"systemctl %s failed", verb);
}
