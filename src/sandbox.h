/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_H
#define SANDBOX_H

/*
 * Narrows the running daemon to what it does: base/landlock has it read the files that its options
 * name and those of the system that its libraries read, base/syscallfilter has it make only the
 * system calls of such a program. Called once, when everything that needs more is done (listeners
 * are open, the nonce is stored) and before the first byte from outside is read. Writes one log
 * line about what holds. A kernel that has none of it is no error.
 *
 * What appears later in a place that no option names, or in a folder that is not there at the
 * start, cannot be read: so is a kubeconfig that is changed to name files in other folders. A
 * restart helps.
 */

#include "kube/files.h"
#include "options.h"

/* files: what the configuration of the API server came from. Both are borrowed. */
void sandbox_enter(const struct options *o, const struct files *files);

#endif
