/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_CLI_HOST_FAKEHOST_H
#define TESTS_UNIT_CLI_HOST_FAKEHOST_H

/*
 * A host for commands that set one up: cli/host/cluster talks to tests/unit/fakes/fakecluster,
 * systemd is noted, naps take no time. Files are real, in a folder of their own. Programs link with
 * $(cli_fakehost_ldflags).
 */

#include <stdbool.h>

#include "options/commandline.h"

struct fakehost {
	bool systemd, user;   /* systemd runs; the user kscaled exists; at first both */
	bool broken;          /* systemctl restart fails */
	char systemctl[256];  /* "enable kscaled.service, restart kscaled.service, " */
	unsigned naps;        /* so far */
	void (*on_nap)(void); /* NULL: nothing happens meanwhile */
	char *folder;         /* of the files; FOLDER in arguments stands for it */
	char *output;         /* of the last run, both streams */
};

extern struct fakehost fakehost;

int fakehost_setup(void **state);
int fakehost_teardown(void **state);

/*
 * Runs the command with these arguments, separated by blanks, and the kubeconfig of the fake
 * cluster. Returns its exit status.
 */
int fakehost_run(const struct commandline *command, const char *arguments);

char *fakehost_file(const char *name); /* its content; NULL: no such file. The caller owns it */

#endif
