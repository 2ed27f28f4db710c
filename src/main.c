/* SPDX-License-Identifier: Apache-2.0 */
#include <curl/curl.h>
#include <event2/event.h>
#include <hiredis/hiredis.h>
#include <jansson.h>
#include <openssl/crypto.h>
#include <stdio.h>
#include <string.h>

#include "base/mem.h"
#include "cli/ask/explain.h"
#include "cli/ask/get.h"
#include "cli/check/check.h"
#include "cli/completion/completion.h"
#include "cli/doctor/doctor.h"
#include "cli/init.h"
#include "cli/join/join.h"
#include "cli/kubectlplugin.h"
#include "cli/leave/leave.h"
#include "cli/manifests.h"
#include "config.h"
#include "daemon.h"
#include "options/options.h"

static int cmd_run(int argc, char **argv);
static int cmd_version(int argc, char **argv);
static int cmd_help(int argc, char **argv);
static int cmd_completion(int argc, char **argv);

static const struct commandline version_line = { .name = "version",
	.summary = "prints the versions of kscaled and its libraries" };
static const struct commandline help_line = { .name = "help", .summary = "this text" };

static const struct command {
	const struct commandline *line;
	int (*run)(int argc, char **argv); /* argv[0] is the sub-command; returns the exit status */
} commands[] = {
	{ &options_line, cmd_run },
	{ &cli_explain_line, cli_explain },
	{ &cli_get_line, cli_get },
	{ &cli_doctor_line, cli_doctor },
	{ &cli_manifests_line, cli_manifests },
	{ &cli_join_line, cli_join },
	{ &cli_leave_line, cli_leave },
	{ &cli_init_line, cli_init },
	{ &cli_check_line, cli_check },
	{ &cli_completion_line, cmd_completion },
	{ &version_line, cmd_version },
	{ &help_line, cmd_help },
};

static int cmd_help(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	puts("kscaled scales Kubernetes workloads on events, by keda.sh objects.\n\nusage: kscaled [run] "
	     "[OPTION]...\n       kscaled COMMAND [OPTION]...\n\ncommands:");
	for (size_t i = 0; i < MEM_COUNT(commands); i++)
		printf("  %-10s %s\n", commands[i].line->name, commands[i].line->summary);
	puts("\noptions of run; a flag overrides the environment, which overrides the config file:");
	commandline_print_options(&options_line, stdout);
	return 0;
}

static int cmd_version(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	puts(PACKAGE_NAME " " PACKAGE_VERSION);
	printf("libevent %s\n%s\n%s\njansson %s\nhiredis %d.%d.%d\n", event_get_version(),
		OpenSSL_version(OPENSSL_VERSION), curl_version(), JANSSON_VERSION, HIREDIS_MAJOR, HIREDIS_MINOR,
		HIREDIS_PATCH);
	return 0;
}

static int cmd_completion(int argc, char **argv)
{
	const struct commandline *list[MEM_COUNT(commands)];

	for (size_t i = 0; i < MEM_COUNT(commands); i++)
		list[i] = commands[i].line;
	return cli_completion(argc, argv, list, MEM_COUNT(commands));
}

static int cmd_run(int argc, char **argv)
{
	struct options options;
	struct err err = { 0 };
	int status;

	if (options_load(argc - 1, argv + 1, &options, &err) < 0) {
		fprintf(stderr, "kscaled: %s\nkscaled: `kscaled help` shows the options\n", err.msg);
		return 2;
	}
	status = options.show_help     ? cmd_help(0, NULL)
		: options.show_version ? cmd_version(0, NULL)
				       : daemon_run(&options, argc - 1, argv + 1);
	options_done(&options);
	return status;
}

int main(int argc, char **argv)
{
	if (argc < 2 && kubectlplugin_runs())
		return cmd_help(0, NULL);
	if (argc < 2 || argv[1][0] == '-')
		return cmd_run(argc, argv);
	for (size_t i = 0; i < MEM_COUNT(commands); i++)
		if (strcmp(argv[1], commands[i].line->name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	fprintf(stderr, "kscaled: unknown command \"%s\"; `kscaled help` shows the commands\n", argv[1]);
	return 2;
}
