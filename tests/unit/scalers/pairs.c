/* SPDX-License-Identifier: Apache-2.0 */
#include "pairs.h"

#include <string.h>

#include "base/mem.h"

void pairs_fill(struct strmap *m, const char *pairs)
{
	MEM_AUTO char *copy = mem_dup(pairs ? pairs : "");
	char *rest = copy, *piece;

	while ((piece = strsep(&rest, "|")) != NULL) {
		char *equals = strchr(piece, '=');

		for (char *c = piece; *c; c++)
			*c = *c == '\x01' ? '|' : *c;
		if (equals) {
			*equals = '\0';
			strmap_set(m, piece, equals + 1);
		}
	}
}
