/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_VERSION_H
#define KUBE_VERSION_H

/*
 * Which of two versions of one object is the newer. resourceVersions are decimal numbers that grow
 * (Kubernetes guarantees this since 1.35, and etcd always did it); for anything else the one that
 * comes later counts as newer.
 */

#include <stdlib.h>
#include <string.h>

/* < 0: `a` is older than `b`; 0: the same; > 0: newer, or not to be told. */
static inline int version_compare(const char *a, const char *b)
{
	char *end_a, *end_b;
	unsigned long long x = strtoull(a, &end_a, 10), y = strtoull(b, &end_b, 10);

	if (strcmp(a, b) == 0)
		return 0;
	if (*a && *b && !*end_a && !*end_b && x < y)
		return -1;
	return 1;
}

#endif
