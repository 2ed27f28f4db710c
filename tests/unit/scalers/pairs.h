/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_SCALERS_PAIRS_H
#define TESTS_UNIT_SCALERS_PAIRS_H

/* A trigger's parameters in the notation of these tests' tables. */

#include "base/strmap.h"

/* Adds "key=value|key=value" to the map; a byte 1 in a value stands for |. NULL: none. */
void pairs_fill(struct strmap *m, const char *pairs);

#endif
