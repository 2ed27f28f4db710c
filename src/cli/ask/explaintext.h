/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ASK_EXPLAINTEXT_H
#define CLI_ASK_EXPLAINTEXT_H

/*
 * Formats an explanation (serve/explain/explain.h) of a ScaledObject or ScaledJob as text. On a
 * terminal it fits on one screen: lines are broken or cut at its width, and the two lists at the
 * end (changes of replicas, or created Jobs; earlier decisions) to the newest entries. Elsewhere
 * nothing is cut. Pure.
 */

#include <jansson.h>
#include <stdint.h>

#include "base/buf.h"
#include "cli/ask/asking.h"

/* Appends to out. now_unix_ms: ages are relative to it. */
void explaintext_render(const json_t *answer, const struct asking_screen *screen, int64_t now_unix_ms, struct buf *out);

#endif
