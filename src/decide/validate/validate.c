/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/validate/validate.h"

#include <string.h>

#include "decide/validate/validate_parts.h"

/* The first check that fails, but for those of another time; NULL: none. */
static const struct validate_check *first_failing(const struct scaled *of, unsigned without, struct err *err)
{
	const struct validate_check *c = of->kind == SCALED_JOB ? validate_job_checks : validate_object_checks;

	while (c->check && ((without & 1u << c->when) || c->check(of, err) == 0))
		c++;
	return c->check ? c : NULL;
}

/* Whether a change leaves the name of the HPA as it is. */
static bool keeps_hpa_name(const struct scaled *of, const struct scaledobject *stored)
{
	char name[512], before[512];

	return of->so && stored &&
		strcmp(scaledobject_hpa_name(of->so, name, sizeof(name)),
			scaledobject_hpa_name(stored, before, sizeof(before))) == 0;
}

int validate_admission(struct scaled of, const struct scaledobject *stored, const char **reason, struct err *err)
{
	unsigned without = 1u << VALIDATE_WHEN_STORED;
	const struct validate_check *failing;

	if (keeps_hpa_name(&of, stored))
		without |= 1u << VALIDATE_WHEN_NEW;
	failing = first_failing(&of, without, err);
	if (reason)
		*reason = failing ? failing->reason : NULL;
	return failing ? -1 : 0;
}

int validate_for_reconcile(struct scaled of, struct err *err)
{
	const struct validate_check *failing = first_failing(&of, 1u << VALIDATE_WHEN_NEW, err);

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
