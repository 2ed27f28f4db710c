/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SYSCALLFILTER_H
#define BASE_SYSCALLFILTER_H

/*
 * Restricts this process by seccomp(2) to the system calls of a network program that reads files,
 * has memory files, and starts no process.
 *
 * Whole families of calls are allowed, not only those of a trace, because another libc or library
 * version may use another call for the same purpose. Unlisted calls fail with ENOSYS, as in an
 * older kernel, so that libraries use their fallbacks; EPERM would not make them. Calls that a
 * library may try but this process must not make fail with EPERM: executing a program, creating a
 * process, opening a file for writing, changing folders, listening. Calls that only an attacker
 * would make (ptrace, modules, mounts, namespaces, BPF) kill the process.
 */

#include <stdbool.h>

#include "base/err.h"

/*
 * may_replace_files: also allows creating, renaming and removing files, as file_replace of
 * base/file does; base/landlock says where.
 *
 * Applies to all threads, irrevocably. Needs PR_SET_NO_NEW_PRIVS. ERR_INVALID: built without
 * libseccomp, or the kernel has no seccomp.
 */
int syscallfilter_enter(bool may_replace_files, struct err *err);

#endif
