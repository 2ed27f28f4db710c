/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_COMMANDS_H
#define CLI_COMMANDS_H

/* All commands, each in its own file; the manual has their exit statuses. */

#include "options/commandline.h"

extern const struct commandline cli_explain_line, cli_get_line, cli_doctor_line, cli_manifests_line, cli_join_line,
	cli_leave_line, cli_init_line, cli_check_line, cli_completion_line, cli_version_line, cli_help_line;

/* In the order of `kscaled help`, NULL at the end. The first is the daemon's. */
extern const struct commandline *const commands[];

#endif
