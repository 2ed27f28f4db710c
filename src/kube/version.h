/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_VERSION_H
#define KUBE_VERSION_H

/*
 * Compares two resourceVersions of one object. They are increasing decimal numbers (guaranteed by
 * Kubernetes since 1.35, and always true with etcd); in any other format the later one counts as
 * newer.
 */

#include <stdlib.h>
#include <string.h>

/* < 0: `a` is older than `b`; 0: equal; > 0: newer, or not comparable */
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
