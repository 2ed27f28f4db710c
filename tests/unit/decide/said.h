/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_DECIDE_SAID_H
#define TESTS_UNIT_DECIDE_SAID_H

#include <stdio.h>

#include "crd/scaledobject.h"

/*
 * A condition of a status: "True ScaledObjectReady: message", or "" if absent. Valid until the next
 * call.
 */
static inline const char *said(const struct scaledobject_status *status, const char *type)
{
	static char text[1024];
	const struct condition *c = conditions_get(&status->conditions, type);

	text[0] = '\0';
	if (c != NULL)
		snprintf(text, sizeof(text), "%s %s: %s", condition_status_name(c->status), c->reason, c->message);
	return text;
}

#endif
