/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_EXPLAINTEXT_H
#define CLI_EXPLAINTEXT_H

/*
 * An explanation (serve/explain/explain.h), of an object of either kind, as text for people. On a
 * terminal it fits one screen: lines are broken or cut at its width, and of the two lists at the
 * end, the changes of replicas (of a ScaledJob: the creations) and the decisions before, as many
 * are shown as there is room for, the newest. Elsewhere all is shown. Pure.
 */

#include <jansson.h>

#include "cli/asking.h"

/* now_unix_ms points to an int64_t: what ages are counted from. */
void explaintext_render(const json_t *answer, const struct asking_screen *screen, const void *now_unix_ms,
	struct buf *out);

#endif
