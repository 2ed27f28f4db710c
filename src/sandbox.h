/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SANDBOX_H
#define SANDBOX_H

/*
 * Drops the privileges that the running daemon does not need. By base/landlock it reads only the
 * files that its options name and the system files that its libraries read, and writes none but the
 * token that it renews. By base/syscallfilter it makes only the system calls of such a program.
 * Called once, after everything that needs more (listeners are open, the nonce is stored) and
 * before the first byte from outside is read. Logs one line about what is in force. A kernel
 * without support is not an error.
 *
 * Files that appear later outside the folders that options name, or in a folder that does not exist
 * at the start, cannot be read: for example those of a kubeconfig that is changed to name other
 * folders. A restart helps.
 */

#include "kube/files.h"
#include "options/options.h"

/*
 * files: the kubeconfig's, or the service account's. replaced: a file that the daemon replaces
 * (base/file) and whose folder it may write to; NULL: none. All are borrowed.
 */
void sandbox_enter(const struct options *o, const struct files *files, const char *replaced);

#endif
