/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_OBJECTS_SCALELOOP_H
#define CONTROL_OBJECTS_SCALELOOP_H

/* Acts on the answers of a ScaledObject's triggers. */

#include <stdint.h>

#include "cache/survey.h"
#include "decide/scale.h"

struct work;

void scaleloop_decide(struct work *work, const struct survey_result *result);
/* Writes a decision to the journal: mark is scale_mark's, text scale_explain's. */
void scaleloop_note(struct work *work, const struct scale_facts *facts, const struct scale_decision *d, uint64_t mark,
	const char *text);

#endif
