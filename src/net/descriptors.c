/* SPDX-License-Identifier: Apache-2.0 */
#include "net/descriptors.h"

#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/hash.h"
#include "base/mem.h"

#define OWN          128 /* the API server, names, files, the loop itself */
#define ACCEPTED_MAX 512
#define LIMIT_MOST   ((rlim_t)1 << 20) /* a kernel that has no limit is not asked for more */

struct descriptors_party {
	struct descriptors *in;
	char *namespace_; /* owned; the key */
	size_t has;
	UT_hash_handle hh;
};

struct descriptors {
	size_t total; /* 0: no limit */
	size_t taken;
	struct descriptors_party *parties; /* that have some */
};

size_t descriptors_raise(void)
{
	struct rlimit limit;
	rlim_t before;

	if (getrlimit(RLIMIT_NOFILE, &limit) < 0)
		return 1024;
	before = limit.rlim_cur;
	limit.rlim_cur = limit.rlim_max < LIMIT_MOST ? limit.rlim_max : LIMIT_MOST;
	if (limit.rlim_cur < before || setrlimit(RLIMIT_NOFILE, &limit) < 0)
		limit.rlim_cur = before;
	return limit.rlim_cur < LIMIT_MOST ? (size_t)limit.rlim_cur : (size_t)LIMIT_MOST;
}

struct descriptors_plan descriptors_plan(size_t limit, size_t most)
{
	struct descriptors_plan plan = { .accepted = limit / 8 < ACCEPTED_MAX ? (int)(limit / 8) : ACCEPTED_MAX };
	size_t own = OWN + 2 * (size_t)plan.accepted;

	/* Where there is next to nothing a few still beat none. */
	plan.sources = limit > own + 16 ? limit - own : 16;
	if (plan.sources > most)
		plan.sources = most;
	return plan;
}

struct descriptors *descriptors_new(void)
{
	return mem_zalloc(sizeof(struct descriptors));
}

void descriptors_free(struct descriptors *d)
{
	struct descriptors_party *p, *next;

	if (!d)
		return;
	HASH_ITER (hh, d->parties, p, next) {
		HASH_DEL(d->parties, p);
		free(p->namespace_);
		free(p);
	}
	free(d);
}

void descriptors_set_total(struct descriptors *d, size_t total)
{
	d->total = total;
}

size_t descriptors_total(const struct descriptors *d)
{
	return d->total;
}

size_t descriptors_taken(const struct descriptors *d)
{
	return d->taken;
}

static bool may_take(const struct descriptors *d, size_t has, size_t wants)
{
	size_t after = d->taken + wants, own = has + wants, shared = d->total - d->total / 4;

	if (d->total == 0)
		return true;
	if (own <= DESCRIPTORS_FEW)
		return after <= d->total;
	return after <= shared && own <= shared - after;
}

/* Says nothing that changes from one time to the next: it is logged, and told by Events, once. */
static int refuse(const struct descriptors *d, const char *namespace_, struct err *err)
{
	return err_set(err, ERR_TEMPORARY,
		"%s%s%s as many connections to servers of triggers as there are for it: name fewer servers, or raise "
		"what kscaled has for all namespaces, %zu (ulimit -n, --max-source-connections)",
		*namespace_ ? "namespace \"" : "", *namespace_ ? namespace_ : "several namespaces together",
		*namespace_ ? "\" has" : " have", d->total);
}

int descriptors_take(struct descriptors *d, struct descriptors_hold *h, struct err *err)
{
	const char *namespace_ = h->namespace_ ? h->namespace_ : "";
	size_t wants = h->wants ? h->wants : 1;
	struct descriptors_party *p;

	if (h->has)
		return 0;
	HASH_FIND_STR(d->parties, namespace_, p);
	h->refused = !may_take(d, p ? p->has : 0, wants);
	if (h->refused)
		return refuse(d, namespace_, err);
	if (!p) {
		p = mem_zalloc(sizeof(*p));
		p->in = d;
		p->namespace_ = mem_dup(namespace_);
		HASH_ADD_KEYPTR(hh, d->parties, p->namespace_, strlen(p->namespace_), p);
	}
	p->has += wants;
	d->taken += wants;
	h->has = (unsigned)wants;
	h->party = p;
	return 0;
}

void descriptors_give(struct descriptors_hold *h, unsigned keep)
{
	struct descriptors_party *p = h->party;
	unsigned back = h->has > keep ? h->has - keep : 0;

	if (!p || back == 0)
		return;
	h->has -= back;
	p->has -= back;
	p->in->taken -= back;
	if (h->has == 0)
		h->party = NULL;
	if (p->has == 0) {
		HASH_DEL(p->in->parties, p);
		free(p->namespace_);
		free(p);
	}
}
