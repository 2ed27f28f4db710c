/* SPDX-License-Identifier: Apache-2.0 */
#include "net/answers.h"

static size_t counted(size_t bytes)
{
	return bytes <= ANSWERS_SMALL ? 0 : (bytes + ANSWERS_STEP - 1) / ANSWERS_STEP * ANSWERS_STEP;
}

/* No varying figures: the same reason must always read the same. */
static int refuse_bytes(const char *namespace_, struct err *err)
{
	return err_set(err, ERR_TEMPORARY,
		"the answer is dropped: %s%s%s used up the share of bytes of unfinished answers: let servers answer "
		"less, or faster",
		*namespace_ ? "namespace \"" : "", *namespace_ ? namespace_ : "several namespaces together",
		*namespace_ ? "\" has" : " have");
}

int answers_hold(struct shares *of, struct answers_hold *h, size_t bytes, struct err *err)
{
	const char *namespace_ = h->namespace_ ? h->namespace_ : "";
	size_t now = counted(bytes), has = h->share.has;

	if (now < has)
		shares_give(&h->share, has - now);
	else if (now > has && !shares_take(of, &h->share, namespace_, now - has))
		return refuse_bytes(namespace_, err);
	return 0;
}

void answers_release(struct answers_hold *h)
{
	shares_give(&h->share, h->share.has);
}
