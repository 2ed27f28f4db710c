/* SPDX-License-Identifier: Apache-2.0 */
#include "net/descriptors.h"

#include <sys/resource.h>

#define OWN          128 /* the API server, names, files, the loop itself */
#define ACCEPTED_MAX 512
#define LIMIT_MOST   ((rlim_t)1 << 20) /* when the hard limit is "unlimited" */

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

	/* With a very low limit a few connections are still tried. */
	plan.sources = limit > own + 16 ? limit - own : 16;
	if (plan.sources > most)
		plan.sources = most;
	return plan;
}

/* No varying figures: the text is logged and sent as an Event only once. */
static int refuse_connection(size_t total, const char *namespace_, struct err *err)
{
	return err_set(err, ERR_TEMPORARY,
		"%s%s%s used up the share of connections to servers of triggers: name fewer servers, or raise the "
		"limit for all namespaces, %zu (ulimit -n, --max-source-connections)",
		*namespace_ ? "namespace \"" : "", *namespace_ ? namespace_ : "several namespaces together",
		*namespace_ ? "\" has" : " have", total);
}

int descriptors_take(struct shares *of, struct descriptors_hold *h, struct err *err)
{
	const char *namespace_ = h->namespace_ ? h->namespace_ : "";

	if (h->share.has > 0)
		return 0;
	h->refused = !shares_take(of, &h->share, namespace_, h->wants ? h->wants : 1);
	return h->refused ? refuse_connection(of->total, namespace_, err) : 0;
}

void descriptors_give(struct descriptors_hold *h, unsigned keep)
{
	if (h->share.has > keep)
		shares_give(&h->share, h->share.has - keep);
}
