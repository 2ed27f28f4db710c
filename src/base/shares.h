/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SHARES_H
#define BASE_SHARES_H

/*
 * Divides a limited amount (descriptors, bytes) among namespaces. None may have more than what is
 * left, and a quarter is reserved for those that have little. So the first namespace gets at most
 * three eighths of the total, the next half of that, and one that comes when others have taken all
 * they could still gets a first piece. Pure.
 */

#include <stdbool.h>
#include <stddef.h>

struct shares_party;

struct shares {       /* a value; zeroed it grants everything */
	size_t total; /* 0: no limit */
	size_t few;   /* how much of the reserve each may have */
	size_t taken;
	struct shares_party *parties; /* namespaces that hold some */
};

/* What one owner holds; a member of the owner; zeroed it holds nothing. */
struct shares_hold {
	struct shares *of;
	struct shares_party *party;
	size_t has;
};

/* namespace_: for a hold that has nothing yet; "" counts as one. False: not available. */
bool shares_take(struct shares *s, struct shares_hold *h, const char *namespace_, size_t amount);
void shares_give(struct shares_hold *h, size_t amount); /* gives back amount, or all that it holds if that is less */
size_t shares_had_by(const struct shares *s, const char *namespace_);

#endif
