/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/commands.h"

#include <curl/curl.h>
#include <event2/event.h>
#include <hiredis/hiredis.h>
#include <jansson.h>
#include <openssl/crypto.h>
#include <stdio.h>

#include "config.h"
#include "options/options.h"

const struct commandline *const commands[] = { &options_line, &cli_explain_line, &cli_get_line, &cli_doctor_line,
	&cli_manifests_line, &cli_join_line, &cli_leave_line, &cli_init_line, &cli_check_line, &cli_completion_line,
	&cli_version_line, &cli_help_line, NULL };

static int run_help(void *arguments, char **operands, int count, struct err *err)
{
	(void)arguments;
	(void)operands;
	(void)count;
	(void)err;
	puts("kscaled scales Kubernetes workloads on events, by keda.sh objects.\n\nusage: kscaled [run] "
	     "[OPTION]...\n       kscaled COMMAND [OPTION]...\n\ncommands:");
	for (size_t i = 0; commands[i]; i++)
		printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
	puts("\noptions of run; a flag overrides the environment, which overrides the config file:");
	commandline_print_options(&options_line, stdout);
	return 0;
}

static int run_version(void *arguments, char **operands, int count, struct err *err)
{
	(void)arguments;
	(void)operands;
	(void)count;
	(void)err;
	puts(PACKAGE_NAME " " PACKAGE_VERSION);
	printf("libevent %s\n%s\n%s\njansson %s\nhiredis %d.%d.%d\n", event_get_version(),
		OpenSSL_version(OPENSSL_VERSION), curl_version(), JANSSON_VERSION, HIREDIS_MAJOR, HIREDIS_MINOR,
		HIREDIS_PATCH);
	return 0;
}

const struct commandline cli_version_line = {
	.name = "version",
	.summary = "prints the versions of kscaled and its libraries",
	.run = run_version,
};

const struct commandline cli_help_line = { .name = "help", .summary = "this text", .run = run_help };
