/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_VERSION_H
#define CLI_VERSION_H

/* `kscaled version`: prints the versions of kscaled and its libraries. Returns 0. */
int cli_version(int argc, char **argv);

#endif
