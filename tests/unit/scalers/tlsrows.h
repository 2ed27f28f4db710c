/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_SCALERS_TLSROWS_H
#define TESTS_UNIT_SCALERS_TLSROWS_H

/* Which triggers are refused where TLS is required: only what cannot end in the clear is taken. */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "scalers/scaler.h"

struct tlsrow {
	const char *metadata, *auth; /* as tests/unit/scalers/pairs.h has them */
	bool is_tls;
};

/* Builds the trigger of a row. */
typedef int (*tlsrow_build)(const char *metadata, const char *auth, struct scaler *out, struct err *err);

/* Each is built where TLS is not required; where it is, the others are told `instead`. */
void tlsrows_check(const struct tlsrow *rows, size_t count, tlsrow_build build, const char *instead);

#endif
