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

static const struct commandline run_line = { .print_help = options_help, .values = options_values };

static const struct command {
	const char *name, *help;
	int (*run)(int argc, char **argv); /* argv[0] is the sub-command; returns the exit status */
	const struct commandline *line;    /* NULL: takes no arguments */
} commands[] = {
	{ "run", "runs the daemon; so does kscaled with flags only", cmd_run, &run_line },
	{ "explain", "explains the replicas or Jobs of an object", cli_explain, &cli_explain_line },
	{ "get", "lists the objects of the running daemon", cli_get, &cli_get_line },
	{ "doctor", "checks every hop from the kubeconfig to a metric and suggests fixes", cli_doctor,
		&cli_doctor_line },
	{ "manifests", "prints the objects that a cluster needs, for kubectl apply -f -", cli_manifests,
		&cli_manifests_line },
	{ "join", "sets up this host to run kscaled for a cluster", cli_join, &cli_join_line },
	{ "leave", "removes kscaled from a cluster", cli_leave, &cli_leave_line },
	{ "init", "prints an example ScaledObject for a type of trigger", cli_init, &cli_init_line },
	{ "check", "checks manifests without a cluster", cli_check, &cli_check_line },
	{ "completion", "prints the completion script for bash, zsh or fish", cmd_completion, &cli_completion_line },
	{ "version", "prints the versions of kscaled and its libraries", cmd_version, NULL },
	{ "help", "this text", cmd_help, NULL },
};

static int cmd_help(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	puts("kscaled scales Kubernetes workloads on events, by keda.sh objects.\n\nusage: kscaled [run] "
	     "[OPTION]...\n       kscaled COMMAND [OPTION]...\n\ncommands:");
	for (size_t i = 0; i < MEM_COUNT(commands); i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].help);
	puts("\noptions of run; a flag overrides the environment, which overrides the config file:");
	options_help(stdout);
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
	struct completion_command list[MEM_COUNT(commands)];

	for (size_t i = 0; i < MEM_COUNT(commands); i++)
		list[i] = (struct completion_command){ commands[i].name, commands[i].help, commands[i].line };
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
		if (strcmp(argv[1], commands[i].name) == 0)
			return commands[i].run(argc - 1, argv + 1);
	fprintf(stderr, "kscaled: unknown command \"%s\"; `kscaled help` shows the commands\n", argv[1]);
	return 2;
}
