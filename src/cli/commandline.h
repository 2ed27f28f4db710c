/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_COMMANDLINE_H
#define CLI_COMMANDLINE_H

/*
 * What may stand on the line of a sub-command, for those who complete it (cli/completion). Each
 * command shows its own; so does the daemon (options/options.h). Constant.
 */

#include <getopt.h>
#include <stdbool.h>
#include <stdio.h>

struct commandline {
	/*
	 * What --help prints, as a text or by a function. Each option that people are to know has a
	 * line of its own there, "  -x, --name ARGUMENT  meaning", or with the meaning in the next
	 * line. FILE and PATH are arguments that name files, DIR one that names a folder.
	 */
	const char *help;
	void (*print_help)(FILE *out);

	const struct option *options;                     /* getopt_long's; NULL: it is not used */
	const char *const *(*values)(const char *option); /* all that --option may be; NULL: it is open */
	const char *const *words;                         /* what the first operand may be; NULL: open */
	bool files;                                       /* operands are files */
};

#endif
