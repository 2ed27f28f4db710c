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

#define ARGUMENTS_MAX 8
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

static char *trimmed(const char *text)
{
	MEM_AUTO char *copy = mem_dup(text);
	const char *words = text_trim(copy, " \n");

	return *words ? mem_dup(words) : NULL;
}

char *systemd_last_words(void)
{
	char *argv[] = { (char[]){ "journalctl" }, (char[]){ "--unit=" SYSTEMD_UNIT }, (char[]){ "--lines=5" },
		(char[]){ "--no-pager" }, (char[]){ "--output=cat" }, (char[]){ "--quiet" }, NULL };
	struct buf text = BUF_INIT(WORDS_MAX);
	posix_spawn_file_actions_t actions;
	char *words = NULL;
	pid_t child;
	int ends[2];

	if (pipe2(ends, O_CLOEXEC) < 0)
		return NULL;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	if (posix_spawnp(&child, argv[0], &actions, NULL, argv, environ) == 0) {
		close(ends[1]);
		ends[1] = -1;
		if (file_read_fd(ends[0], &text) == 0)
			words = trimmed(buf_text(&text));
		close(ends[0]);
		ends[0] = -1;
		wait_for(child);
	}
	posix_spawn_file_actions_destroy(&actions);
	for (size_t i = 0; i < MEM_COUNT(ends); i++)
		if (ends[i] >= 0)
			close(ends[i]);
	buf_done(&text);
	return words;
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
	status = wait_for(child);
	if (status < 0)
		return err_set(err, ERR_TEMPORARY, "systemctl: %s", strerror(errno));
	if (WIFEXITED(status) && WEXITSTATUS(status) == 0)
		return 0;
	return err_set(err, WIFEXITED(status) && WEXITSTATUS(status) == NOT_INSTALLED ? ERR_MISSING : ERR_TEMPORARY,
		"systemctl %s failed", arguments[0]);
}
