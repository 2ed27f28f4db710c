/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SYSCALLFILTER_H
#define BASE_SYSCALLFILTER_H

/*
 * Which system calls this process may make from now on, by seccomp(2): what a network program and
 * its libraries need that reads files, keeps memory files, and starts no process.
 *
 * A list of what is allowed, made for families of calls rather than for what a trace shows today,
 * so that another libc, or another way of a library to do the same, finds its call in it. What is
 * on no list is answered "no such call" (ENOSYS), as by an older kernel: libraries then take the
 * older way, which a list that says EPERM keeps them from. What the kernel has and this process
 * must not do, though a library may try it and go on without, is refused with EPERM: running a
 * program, making a process, opening a file for writing, changing folders, listening. What no
 * library of a daemon ever does, and whoever has taken over a process does next (tracing others,
 * modules, mounts, namespaces, BPF), ends the process.
 */

#include "base/err.h"

/*
 * For all threads, and for ever. The process must not be able to gain privileges
 * (PR_SET_NO_NEW_PRIVS). ERR_INVALID: built without libseccomp, or the kernel has no seccomp.
 */
int syscallfilter_enter(struct err *err);

#endif
