/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_OBJECTS_ACT_H
#define CONTROL_OBJECTS_ACT_H

/* Writes the decided replicas to the target's /scale. */

#include "crd/scaledobject.h"
#include "decide/scale.h"

struct work;

/*
 * Writes the decided replicas, unless a write is under way. why: scale_explain's text. After a
 * conflict the newer replicas are read, and the triggers asked again.
 */
void act_scale(struct work *work, const struct scaledobject *so, const struct scale_facts *facts,
	const struct scale_decision *d, const char *why);
void act_stop(struct work *work);
/* path of the target's /scale; NULL: it has none; the caller owns it */
char *act_scale_path(const struct work *work, const struct scaledobject *so);
/* the same for any resource; NULL if a part cannot be a path segment */
char *act_scale_path_of(const char *group, const char *version, const char *resource, const char *namespace_,
	const char *name);
char *act_target_name(
	const struct scaledobject *so); /* "Deployment default/web", as in KEDA's Events; the caller owns it */

#endif
