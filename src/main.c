/* SPDX-License-Identifier: Apache-2.0 */
#include "config.h"

#include <curl/curl.h>
#include <event2/event.h>
#include <hiredis/hiredis.h>
#include <jansson.h>
#include <openssl/crypto.h>
#include <stdbool.h>
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
#include "daemon.h"
#include "options.h"

static int cmd_run(int argc, char **argv);
static int cmd_version(int argc, char **argv);
static int cmd_help(int argc, char **argv);
static int cmd_completion(int argc, char **argv);

static const struct commandline run_line = { .print_help = options_help, .values = options_values };

/* Both functions: argv[0] is the sub-command; the result is the exit status. */
static const struct command {
	const char *name, *help;
	int (*run)(int argc, char **argv);
	int (*ask)(int argc, char **argv, const struct insightclient_ways *usual); /* asks a running daemon */
	int (*examine)(int argc, char **argv, const struct doctor_setup *usual);   /* looks at how one is set up */
	const struct commandline *line;                                            /* NULL: it takes nothing */
} commands[] = {
	{ "run", "runs the daemon; so does kscaled with flags only", .run = cmd_run, .line = &run_line },
	{ "explain", "tells why the replicas, or Jobs, of one object are what they are", .ask = cli_explain,
		.line = &cli_explain_line },
	{ "get", "lists the objects that the running daemon knows", .ask = cli_get, .line = &cli_get_line },
	{ "doctor", "walks the chain to the cluster and says what is wrong and what mends it", .examine = cli_doctor,
		.line = &cli_doctor_line },
	{ "manifests", "prints what a cluster needs, for kubectl apply -f -", .run = cli_manifests,
		.line = &cli_manifests_line },
	{ "join", "makes this host the one that scales a cluster, and starts the service", .run = cli_join,
		.line = &cli_join_line },
	{ "leave", "takes kscaled out of a cluster, in the order in which nothing hangs", .run = cli_leave,
		.line = &cli_leave_line },
	{ "init", "prints a ScaledObject for a type of trigger, to begin with", .run = cli_init,
		.line = &cli_init_line },
	{ "check", "checks manifests without a cluster", .run = cli_check, .line = &cli_check_line },
	{ "completion", "prints the completion of command lines for bash, zsh or fish", .run = cmd_completion,
		.line = &cli_completion_line },
	{ "version", "prints the versions of kscaled and its libraries", .run = cmd_version },
	{ "help", "this text", .run = cmd_help },
};

static int cmd_help(int argc, char **argv)
{
	(void)argc;
	(void)argv;
	puts("kscaled scales Kubernetes workloads on events, as keda.sh objects say.\n\nusage: kscaled [run] "
	     "[OPTION]...\n       kscaled COMMAND [OPTION]...\n\ncommands:");
	for (size_t i = 0; i < MEM_COUNT(commands); i++)
		printf("  %-10s %s\n", commands[i].name, commands[i].help);
	puts("\noptions of run; a flag goes before the environment, that before the config file:");
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

static int ask_as_kubectl(const struct command *command, int argc, char **argv)
{
	MEM_AUTO char *path = kubectlplugin_kubeconfig();
	struct insightclient_ways usual = { .kubeconfig = path };

	return command->ask(argc, argv, &usual);
}

static int cmd_completion(int argc, char **argv)
{
	struct completion_command told[MEM_COUNT(commands)];

	for (size_t i = 0; i < MEM_COUNT(commands); i++)
		told[i] = (struct completion_command){ commands[i].name, commands[i].help, commands[i].line };
	return cli_completion(argc, argv, told, MEM_COUNT(commands));
}

/* The environment and the config file name the socket and the kubeconfig of the daemon. */
static int ask_daemon(const struct command *command, int argc, char **argv)
{
	struct insightclient_ways usual = { 0 };
	struct options options;
	struct err err = { 0 };
	int status;

	if (options_load(0, NULL, &options, &err) < 0) {
		fprintf(stderr, "kscaled %s: %s\n", argv[0], err.msg);
		return 2;
	}
	usual.usual_socket = options.insight_socket;
	usual.usual_kubeconfig = options.kubeconfig;
	status = command->ask(argc, argv, &usual);
	options_done(&options);
	return status;
}

/* As the daemon runs, by its environment and config file; the cluster may be kubectl's. */
static int examine(const struct command *command, int argc, char **argv, bool as_kubectl)
{
	const char *config = doctor_config(argc, argv);
	MEM_AUTO char *kubeconfig = as_kubectl ? kubectlplugin_kubeconfig() : NULL;
	MEM_AUTO char *flag = config ? mem_printf("--config=%s", config) : NULL;
	struct options o;
	struct err err = { 0 };
	int status;

	if (options_load(flag ? 1 : 0, &flag, &o, &err) < 0) {
		fprintf(stderr, "kscaled %s: %s\n", argv[0], err.msg);
		return 2;
	}
	struct doctor_setup usual = { .program = as_kubectl ? "kubectl kscaled" : "kscaled",
		.kubeconfig = kubeconfig ? kubeconfig : o.kubeconfig,
		.namespace_ = o.namespace_,
		.service_name = o.service_name,
		.lease_name = o.lease_name,
		.keda_namespace = o.keda_namespace,
		.watch_namespaces = o.watch_namespaces,
		.tls_cert_file = o.tls_cert_file,
		.secure_port = o.secure_port,
		.webhook = o.webhook,
		.restrict_secrets = o.restrict_secret_access,
		.take_over = o.take_over,
		.no_lease = !o.leader_elect };
	status = command->examine(argc, argv, &usual);
	options_done(&o);
	return status;
}

static int cmd_run(int argc, char **argv)
{
	struct options options;
	struct err err = { 0 };

	if (options_load(argc - 1, argv + 1, &options, &err) < 0) {
		fprintf(stderr, "kscaled: %s\nkscaled: `kscaled help` shows the options\n", err.msg);
		return 2;
	}
	int status = options.show_help ? cmd_help(0, NULL)
		: options.show_version ? cmd_version(0, NULL)
				       : daemon_run(&options, argc - 1, argv + 1);
	options_done(&options);
	return status;
}

int main(int argc, char **argv)
{
	bool as_kubectl = kubectlplugin_runs(argv[0]);

	if (argc < 2 && as_kubectl)
		return cmd_help(0, NULL);
	if (argc < 2 || argv[1][0] == '-')
		return cmd_run(argc, argv);
	for (size_t i = 0; i < MEM_COUNT(commands); i++) {
		const struct command *c = &commands[i];

		if (strcmp(argv[1], c->name) == 0)
			return c->run        ? c->run(argc - 1, argv + 1)
				: c->examine ? examine(c, argc - 1, argv + 1, as_kubectl)
				: as_kubectl ? ask_as_kubectl(c, argc - 1, argv + 1)
					     : ask_daemon(c, argc - 1, argv + 1);
	}
	fprintf(stderr, "kscaled: there is no command \"%s\"; `kscaled help` shows the commands\n", argv[1]);
	return 2;
}
