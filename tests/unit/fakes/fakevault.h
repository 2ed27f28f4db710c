/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_FAKES_FAKEVAULT_H
#define TESTS_UNIT_FAKES_FAKEVAULT_H

/*
 * Stands in for net/vault at link time: one secret, whose value ("pw"), life and failures a test
 * sets; each reading has another "certificate" and "private_key". A fake, because no real server
 * rotates a value or fails at given moments. The real client is tried in tests/unit/net.
 */

#include <stdint.h>

#include "net/vault/vault.h"

void fakevault_start(void);
void fakevault_end(void);                                     /* fails when a reading is under way */
void fakevault_value(const char *value, int64_t good_for_ms); /* from now on */
void fakevault_fail(enum err_kind kind, const char *message);
void fakevault_retry_after(int64_t ms); /* of the failure */
unsigned fakevault_reads(void);         /* so far */
const char *fakevault_asker(void);      /* whom the last reading is for */
const char *fakevault_last(void);       /* "address path token|jwt role mount" of the last reading */

#endif
