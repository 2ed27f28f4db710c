/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_COMMANDLINE_H
#define CLI_COMMANDLINE_H

/*
 * The command line of a sub-command, for completion (cli/completion). Each command exports its own;
 * so does the daemon (options/options.h). Constant.
 */

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

struct commandline {
	/*
	 * The output of --help, as text or by a function. Each public option has a line, " -x,
	 * --name ARGUMENT meaning", or with the meaning in the next line. FILE and PATH are
	 * arguments that name files, DIR a directory.
	 */
	const char *help;
	void (*print_help)(FILE *out);

	const struct option *options;                     /* getopt_long's; NULL: not used */
	const char *const *(*values)(const char *option); /* the values of --option; NULL: any */
	const char *const *words;                         /* the values of the first operand; NULL: any */
	bool files;                                       /* operands are files */
};

#endif
