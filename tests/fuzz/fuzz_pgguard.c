/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What a PostgreSQL server says, before libpq sees it. The first byte is the size of the pieces,
 * the second says in which state the connection is: libpq sees the same bytes however they come,
 * and none behind what is refused.
 */

#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "net/pg/pgguard.h"

static struct pgguard guard_in(unsigned char state)
{
	struct pgguard g = { .listens = state & 1, .channel = state & 2, .logs_in = state & 32 };

	if (state & 4)
		pgguard_opened(&g);
	if (state & 8)
		pgguard_asked(&g);
	if (state & 16)
		pgguard_asked(&g);
	return g;
}

/* How many bytes libpq sees, which are moved to `out`. */
static size_t listen_to(struct pgguard *g, const unsigned char *bytes, size_t len, size_t piece, unsigned char *out)
{
	unsigned char *wait = mem_alloc(len + 1);
	size_t waiting = 0, seen = 0;

	for (size_t at = 0; at < len;) {
		size_t step = len - at < piece ? len - at : piece, used, kept;

		memcpy(wait + waiting, bytes + at, step);
		waiting += step;
		at += step;
		do {
			used = pgguard_take(g, wait, waiting, &kept);
			must(used <= waiting && kept <= used);
			memcpy(out + seen, wait, kept);
			seen += kept;
			memmove(wait, wait + used, waiting - used);
			waiting -= used;
		} while (used > 0 && waiting > 0 && g->err.kind == ERR_NONE);
		if (g->err.kind != ERR_NONE) {
			must(pgguard_take(g, wait, waiting, &kept) == 0 && kept == 0);
			break;
		}
	}
	free(wait);
	return seen;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct pgguard whole, pieces;
	unsigned char *a, *b;
	size_t seen;

	if (size < 2)
		return 0;
	whole = guard_in(data[1]);
	pieces = guard_in(data[1]);
	a = mem_alloc(size);
	b = mem_alloc(size);
	seen = listen_to(&whole, data + 2, size - 2, size, a);
	must(seen == listen_to(&pieces, data + 2, size - 2, data[0] + (size_t)1, b));
	must(memcmp(a, b, seen) == 0);
	must(whole.err.kind == pieces.err.kind && strcmp(whole.err.msg, pieces.err.msg) == 0);
	must(whole.worn == pieces.worn && whole.complained == pieces.complained);
	free(a);
	free(b);
	return 0;
}
