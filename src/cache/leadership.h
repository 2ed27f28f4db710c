/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_LEADERSHIP_H
#define CACHE_LEADERSHIP_H

/*
 * Whether this process is the leader, and otherwise who is: written by control/leader, read by
 * everyone. A value.
 */

#include <stdbool.h>
#include <stdint.h>

struct leadership {
	bool leading;
	char holder[256];  /* of the Lease as last seen; "" when unknown */
	char why_not[512]; /* while not leading: the reason, for users; "" */
};

#endif
