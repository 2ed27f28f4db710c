/* SPDX-License-Identifier: Apache-2.0 */
#include "base/shares.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "base/mem.h"

struct shares_party {     /* a namespace; freed when it holds nothing */
	char *namespace_; /* owned; the key */
	size_t has;
	UT_hash_handle hh;
};

static bool is_to_be_had(const struct shares *s, size_t has, size_t amount)
{
	size_t after = s->taken + amount, own = has + amount, common = s->total - s->total / 4;

	if (s->total == 0)
		return true;
	if (own <= s->few)
		return after <= s->total;
	return after <= common && own <= common - after;
}

static struct shares_party *party_new(struct shares *s, const char *namespace_)
{
	struct shares_party *p = mem_zalloc(sizeof(*p));

	p->namespace_ = mem_dup(namespace_);
	HASH_ADD_KEYPTR(hh, s->parties, p->namespace_, strlen(p->namespace_), p);
	return p;
}

bool shares_take(struct shares *s, struct shares_hold *h, const char *namespace_, size_t amount)
{
	struct shares_party *p = h->party;

	if (!p)
		HASH_FIND_STR(s->parties, namespace_, p);
	if (!is_to_be_had(s, p ? p->has : 0, amount))
		return false;
	if (amount == 0)
		return true;
	if (!p)
		p = party_new(s, namespace_);
	p->has += amount;
	s->taken += amount;
	h->of = s;
	h->party = p;
	h->has += amount;
	return true;
}

size_t shares_had_by(const struct shares *s, const char *namespace_)
{
	const struct shares_party *p;

	HASH_FIND_STR(s->parties, namespace_, p);
	return p ? p->has : 0;
}

void shares_give(struct shares_hold *h, size_t amount)
{
	struct shares_party *p = h->party;
	size_t back = amount < h->has ? amount : h->has;

	if (!p || back == 0)
		return;
	h->has -= back;
	p->has -= back;
	h->of->taken -= back;
	if (h->has == 0)
		h->party = NULL;
	if (p->has > 0)
		return;
	HASH_DEL(h->of->parties, p);
	free(p->namespace_);
	free(p);
}
