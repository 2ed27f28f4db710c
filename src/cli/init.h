/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_INIT_H
#define CLI_INIT_H

/*
 * `kscaled init TYPE`: prints a ScaledObject for a type of trigger, with a comment for each
 * parameter that its tables declare (scalers/params.h), as a starting point and a short reference.
 * Needs no cluster; the output passes `kscaled check`.
 */

#include <stdbool.h>

#include "base/buf.h"

/* false: unknown type, nothing is printed. */
bool init_print(const char *type, struct buf *out);

#endif
