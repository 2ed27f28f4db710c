/* SPDX-License-Identifier: Apache-2.0 */
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include "base/json.h"
#include "cli/commands.h"
#include "cli/kubectlplugin.h"
#include "daemon.h"
#include "options/options.h"

/* argv[0] is the first flag. */
static int run(int argc, char **argv)
{
	struct options options;
	struct err err = { 0 };
	int status;

	if (options_load(argc, argv, &options, &err) < 0) {
		fprintf(stderr, "kscaled: %s\nkscaled: `kscaled help` shows the options\n", err.msg);
		return 2;
	}
	status = options.show_help     ? commandline_run(&cli_help_line, argc, argv)
		: options.show_version ? commandline_run(&cli_version_line, argc, argv)
				       : daemon_run(&options, argc, argv);
	options_done(&options);
	return status;
}

int main(int argc, char **argv)
{
	json_wipe_on_free(); /* manifests, kubeconfigs and answers may have secrets */
	if (argc < 2 && kubectlplugin_runs())
		return commandline_run(&cli_help_line, argc, argv);
	if (argc < 2 || argv[1][0] == '-')
		return run(argc - 1, argv + 1);
	for (size_t i = 0; commands[i]; i++) {
		const struct commandline *line = commands[i];

		if (strcmp(argv[1], line->name) == 0)
			return line->run ? commandline_run(line, argc - 1, argv + 1) : run(argc - 2, argv + 2);
	}
	fprintf(stderr, "kscaled: unknown command \"%s\"; `kscaled help` shows the commands\n", argv[1]);
	return 2;
}
