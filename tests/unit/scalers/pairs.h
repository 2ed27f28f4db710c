/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_SCALERS_PAIRS_H
#define TESTS_UNIT_SCALERS_PAIRS_H

/* A trigger's parameters as the tables of these tests write them. */

#include "base/strmap.h"

/* "key=value|key=value" into the map; a byte 1 in a value stands for |. NULL for none. */
void pairs_fill(struct strmap *m, const char *pairs);

#endif
