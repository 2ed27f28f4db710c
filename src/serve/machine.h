/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_MACHINE_H
#define SERVE_MACHINE_H

/* The machine architecture, by the names that Kubernetes and Go use. */

#if defined(__x86_64__)
#define MACHINE_ARCHITECTURE "amd64"
#elif defined(__aarch64__)
#define MACHINE_ARCHITECTURE "arm64"
#elif defined(__arm__)
#define MACHINE_ARCHITECTURE "arm"
#elif defined(__i386__)
#define MACHINE_ARCHITECTURE "386"
#elif defined(__riscv)
#define MACHINE_ARCHITECTURE "riscv64"
#elif defined(__powerpc64__)
#define MACHINE_ARCHITECTURE "ppc64le"
#elif defined(__s390x__)
#define MACHINE_ARCHITECTURE "s390x"
#else
#define MACHINE_ARCHITECTURE "unknown"
#endif

#endif
