/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/validate/validate.h"

#include "decide/validate/validate_parts.h"

/* The first check that fails; NULL: none. admission: only those that the webhook makes. */
static const struct validate_check *first_failing(const struct scaled *of, bool admission, struct err *err)
{
	const struct validate_check *c = of->kind == SCALED_JOB ? validate_job_checks : validate_object_checks;

	while (c->check && ((admission && c->admitted) || c->check(of, err) == 0))
		c++;
	return c->check ? c : NULL;
}

int validate_admission(struct scaled of, const char **reason, struct err *err)
{
	const struct validate_check *failing = first_failing(&of, true, err);

	if (reason)
		*reason = failing ? failing->reason : NULL;
	return failing ? -1 : 0;
}

int validate_for_reconcile(struct scaled of, struct err *err)
{
	const struct validate_check *failing = first_failing(&of, false, err);

	if (!failing)
		return 0;
	return failing->step ? err_wrap(err, "%s", failing->step) : -1;
}

void validate_every(struct scaled of, void (*on_fault)(void *arg, const struct err *err), void *arg)
{
	const struct validate_check *c = of.kind == SCALED_JOB ? validate_job_checks : validate_object_checks;
	struct err err = { 0 };

	if (of.spec_err) {
		on_fault(arg, of.spec_err);
		return;
	}
	for (; c->check; c++)
		if (c->check(&of, &err) < 0)
			on_fault(arg, &err);
}
