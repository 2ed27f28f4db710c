/* SPDX-License-Identifier: Apache-2.0 */
#include "decide/validate/validate.h"

#include <stdbool.h>

#include "decide/validate/validate_parts.h"

static const struct validate_check *checks_of(const struct scaled *of)
{
	return of->kind == SCALED_JOB ? validate_job_checks : validate_object_checks;
}

/* The first check that fails, except those with one of these flags; NULL: none. */
static const struct validate_check *first_failing(const struct scaled *of, unsigned but_for, struct err *err)
{
	const struct validate_check *c = checks_of(of);

	while (c->check && ((but_for & 1u << c->holds) != 0 || c->check(of, err) == 0))
		c++;
	return c->check ? c : NULL;
}

static int admit(const struct scaled *of, unsigned but_for, const char **reason, struct err *err)
{
	const struct validate_check *failing = first_failing(of, but_for, err);

	if (reason)
		*reason = failing ? failing->reason : NULL;
	return failing ? -1 : 0;
}

int validate_admission(struct scaled of, const char **reason, struct err *err)
{
	return admit(&of, 1u << VALIDATE_RECONCILE, reason, err);
}

int validate_stored(struct scaled of, const char **reason, struct err *err)
{
	return admit(&of, 1u << VALIDATE_RECONCILE | 1u << VALIDATE_NEW, reason, err);
}

/* of is decoded. */
static void tell_all(const struct scaled *of, bool only_new, void (*on_fault)(void *arg, const struct err *err),
	void *arg)
{
	struct err err = { 0 };

	for (const struct validate_check *c = checks_of(of); c->check; c++)
		if ((c->holds == VALIDATE_NEW) == only_new && c->check(of, &err) < 0)
			on_fault(arg, &err);
}

void validate_only_new(struct scaled of, void (*on_fault)(void *arg, const struct err *err), void *arg)
{
	if (!of.spec_err)
		tell_all(&of, true, on_fault, arg);
}

int validate_for_reconcile(struct scaled of, const char **step, struct err *err)
{
	const struct validate_check *failing = first_failing(&of, 1u << VALIDATE_NEW, err);

	if (step)
		*step = failing ? failing->step : NULL;
	if (!failing)
		return 0;
	return failing->step ? err_wrap(err, "%s", failing->step) : -1;
}

void validate_every(struct scaled of, void (*on_fault)(void *arg, const struct err *err), void *arg)
{
	if (of.spec_err)
		on_fault(arg, of.spec_err);
	else
		tell_all(&of, false, on_fault, arg);
}
