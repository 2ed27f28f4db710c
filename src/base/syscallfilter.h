/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SYSCALLFILTER_H
#define BASE_SYSCALLFILTER_H

/*
 * Restricts the system calls of this process by seccomp(2) to those of a network program that reads
 * files, has memory files, and starts no process.
 *
 * Allowed are whole families of calls, not only those of a trace, because another libc or version
 * of a library may use another call for the same. Calls on no list fail with ENOSYS, as in an older
 * kernel, so that libraries use their fallbacks; EPERM would not make them. Calls that a library
 * may try, but this process must not make, fail with EPERM: executing a program, creating a
 * process, opening a file for writing, changing folders, listening. Calls that only an attacker
 * would make (ptrace, modules, mounts, namespaces, BPF) kill the process.
 */

#include <stdbool.h>

#include "base/err.h"

/*
 * may_replace_files: also to create files that there were not, to rename and to remove them, as
 * file_replace of base/file does; where is for base/landlock to say.
 *
 * Applies to all threads, irrevocably. Needs PR_SET_NO_NEW_PRIVS. ERR_INVALID: built without
 * libseccomp, or the kernel has no seccomp.
 */
int syscallfilter_enter(bool may_replace_files, struct err *err);

#endif
