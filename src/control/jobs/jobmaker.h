/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_JOBS_JOBMAKER_H
#define CONTROL_JOBS_JOBMAKER_H

/*
 * Creates every Job once. A Job has its name before it is sent, counts as running from then until
 * it is known to be refused, and is sent again under the same name when the answer was lost.
 */

#include <stddef.h>
#include <stdint.h>

struct work;

/* creates this many Jobs now, instead of those planned but not sent */
void jobmaker_create(struct work *work, int32_t count, int32_t running, const char *why);
/* Jobs that were sent, may exist, and are not in cache/objects/jobs yet */
size_t jobmaker_unseen(const struct work *work);
void jobmaker_look(struct work *work);    /* cache/objects/jobs has changed: settles the Jobs that it has */
void jobmaker_forgive(struct work *work); /* forgets the last refusal */
/* drops Jobs that are planned but not sent */
void jobmaker_drop(struct work *work);
void jobmaker_hold(struct work *work); /* the same, and Jobs in doubt are looked up instead of sent again */
void jobmaker_stop(struct work *work); /* drops all, also those sent */

#endif
