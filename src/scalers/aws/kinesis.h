/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_AWS_KINESIS_H
#define SCALERS_AWS_KINESIS_H

/* Trigger type `aws-kinesis-stream` (doc/keda.md 8.23): open shards of a stream. */

#include <stddef.h>

#include "base/err.h"

/* Pure; public for tests and fuzzing. 0, or -1 with an error. */
int kinesis_read(const char *body, size_t len, double *out, struct err *err);

#endif
