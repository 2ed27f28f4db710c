/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SHARES_H
#define BASE_SHARES_H

/*
 * Something of which there is so much (descriptors, bytes), in shares by namespace. Nobody has more
 * than is left, and a quarter is kept for those that have few: the first that asks for all gets
 * three eighths, the next half of that, and one that asks for its first when others have taken
 * what they could get gets it. Pure.
 */

#include <stdbool.h>
#include <stddef.h>

struct shares_party;

struct shares {       /* a value; zero gives whatever is asked for */
	size_t total; /* 0: no limit */
	size_t few;   /* that each may have of what is kept */
	size_t taken;
	struct shares_party *parties; /* that have some */
};

/* What one has; lives inside its owner; zero is nothing. */
struct shares_hold {
	struct shares *of;
	struct shares_party *party;
	size_t has;
};

/* namespace_: of a hold that has nothing yet; "" is one, too. False: it is not to be had. */
bool shares_take(struct shares *s, struct shares_hold *h, const char *namespace_, size_t amount);
void shares_give(struct shares_hold *h, size_t amount); /* back; at most what it has */
size_t shares_had_by(const struct shares *s, const char *namespace_);

#endif
