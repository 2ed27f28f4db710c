/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_SCALERS_TLSROWS_H
#define TESTS_UNIT_SCALERS_TLSROWS_H

/*
 * Triggers that are refused if TLS is required: only those that can never use plain text are
 * accepted.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "scalers/scaler.h"

struct tlsrow {
	const char *metadata, *auth; /* in the notation of tests/unit/scalers/pairs.h */
	bool is_tls;
};

/* Builds the trigger of a row. */
typedef int (*tlsrow_build)(const char *metadata, const char *auth, struct scaler *out, struct err *err);

/*
 * Checks that each row builds if TLS is not required, and that otherwise the error has `instead`.
 */
void tlsrows_check(const struct tlsrow *rows, size_t count, tlsrow_build build, const char *instead);

#endif
