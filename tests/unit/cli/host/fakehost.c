/* SPDX-License-Identifier: Apache-2.0 */
#include "fakehost.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakeloop.h"

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "cli/host/systemd.h"
#include "kube/client.h"

#define ARGUMENTS_MAX 32

struct fakehost fakehost;
static struct loop *loop;
static struct kube *kube;

/* ---- What the fakes leave out of net/loop and kube/client ---- */

struct loop *loop_new(struct err *err)
{
	(void)err;
	return loop;
}

void loop_free(struct loop *l)
{
	(void)l;
}

void loop_turn(struct loop *l)
{
	(void)l;
	fakeloop_advance(1);
}

struct kube *kube_new(struct loop *l, struct kube_config *config, struct counters *counters, struct err *err)
{
	(void)l;
	(void)config;
	(void)counters;
	(void)err;
	return kube;
}

void kube_free(struct kube *k)
{
	(void)k;
}

/* ---- systemd, users, time ---- */

bool systemd_is_running(void)
{
	return fakehost.systemd;
}

int systemd_control(const char *verb, struct err *err)
{
	size_t len = strlen(fakehost.systemctl);

	snprintf(fakehost.systemctl + len, sizeof(fakehost.systemctl) - len, "%s " SYSTEMD_UNIT ", ", verb);
	return fakehost.broken && strcmp(verb, "restart") == 0 ? err_set(err, ERR_TEMPORARY, "systemctl failed") : 0;
}

char *systemd_last_words(void)
{
	return mem_dup("one line\nanother line");
}

bool __wrap_hostfiles_has_user(void);
bool __wrap_hostfiles_has_user(void)
{
	return fakehost.user;
}

int64_t __wrap_steps_now_ms(void);
int64_t __wrap_steps_now_ms(void)
{
	return loop_now_ms(loop);
}

void __wrap_steps_nap(void);
void __wrap_steps_nap(void)
{
	fakehost.naps++;
	fakeloop_advance(500);
	if (fakehost.on_nap)
		fakehost.on_nap();
}

/* ---- The test's side ---- */

static const char kubeconfig[] = "apiVersion: v1\nkind: Config\ncurrent-context: it\n"
				 "clusters: [{name: it, cluster: {server: 'https://api.shop:6443'}}]\n"
				 "users: [{name: it, user: {token: admins}}]\n"
				 "contexts: [{name: it, context: {cluster: it, user: it}}]\n";

int fakehost_setup(void **state)
{
	char folder[] = "/tmp/test_fakehost.XXXXXX";
	MEM_AUTO char *path = NULL;
	FILE *file;

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	fakehost = (struct fakehost){ .systemd = true, .user = true, .folder = mem_dup(folder) };
	loop = fakeloop_start();
	kube = fakecluster_start(loop);
	path = mem_printf("%s/admin.conf", folder);
	file = fopen(path, "we");
	if (!file)
		return -1;
	fputs(kubeconfig, file);
	return fclose(file);
}

int fakehost_teardown(void **state)
{
	MEM_AUTO char *remove = mem_printf("rm -r '%s'", fakehost.folder);
	int failed = system(remove);

	(void)state;
	fakecluster_end();
	fakeloop_end();
	free(fakehost.folder);
	free(fakehost.output);
	return failed;
}

/* Both streams into a file from now on, and back. */
static void redirect(FILE *to, int saved[2])
{
	fflush(stdout);
	fflush(stderr);
	for (int i = 0; i < 2; i++) {
		saved[i] = dup(i + 1);
		assert_true(dup2(fileno(to), i + 1) >= 0);
	}
}

static void restore(const int saved[2])
{
	fflush(stdout);
	fflush(stderr);
	for (int i = 0; i < 2; i++) {
		assert_true(dup2(saved[i], i + 1) >= 0);
		close(saved[i]);
	}
}

static char *read_all(FILE *file)
{
	struct buf text = BUF_INIT(1 << 20);
	char part[4096];
	size_t n;

	rewind(file);
	while ((n = fread(part, 1, sizeof(part), file)) > 0)
		buf_append(&text, part, n);
	return buf_take(&text);
}

static char *with_folder(const char *word)
{
	const char *rest = strstr(word, "FOLDER");

	return rest ? mem_printf("%.*s%s%s", (int)(rest - word), word, fakehost.folder, rest + strlen("FOLDER"))
		    : mem_dup(word);
}

int fakehost_run(const struct commandline *command, const char *arguments)
{
	MEM_AUTO char *all = mem_printf("command --kubeconfig=FOLDER/admin.conf %s", arguments);
	char *rest = all, *word, *argv[ARGUMENTS_MAX + 1], *owned[ARGUMENTS_MAX];
	FILE *file = tmpfile();
	int argc = 0, status, saved[2];

	while ((word = strsep(&rest, " ")) != NULL) {
		if (!*word)
			continue;
		assert_true(argc < ARGUMENTS_MAX);
		argv[argc] = owned[argc] = with_folder(word); /* the parser moves them */
		argc++;
	}
	argv[argc] = NULL;
	assert_non_null(file);
	fakehost.systemctl[0] = '\0';
	fakehost.naps = 0;
	redirect(file, saved);
	status = commandline_run(command, argc, argv);
	restore(saved);
	free(fakehost.output);
	fakehost.output = read_all(file);
	fclose(file);
	for (int i = 0; i < argc; i++)
		free(owned[i]);
	return status;
}

char *fakehost_file(const char *name)
{
	MEM_AUTO char *path = mem_printf("%s/%s", fakehost.folder, name);
	struct buf text = BUF_INIT(1 << 20);

	if (file_read(path, FILE_ANY, NULL, &text, NULL) == 0)
		return buf_take(&text);
	buf_done(&text);
	return NULL;
}
