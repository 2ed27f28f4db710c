/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/nearname.h"

#include <string.h>

#include "base/slips.h"

#define DISTANCE_MAX 3

struct nearname nearname_of(const char *wanted)
{
	return (struct nearname){ wanted, NULL, 0 };
}

void nearname_offer(struct nearname *n, const char *name)
{
	size_t found = slips_between(n->wanted, name);

	if (found > DISTANCE_MAX || 3 * found > strlen(name) || (n->best && found >= n->distance))
		return;
	n->best = name;
	n->distance = found;
}
