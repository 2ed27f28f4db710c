/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_AWS_SQS_H
#define SCALERS_AWS_SQS_H

/* Trigger type `aws-sqs-queue` (doc/keda.md 8.21): messages in a queue of SQS. */

#include "base/err.h"
#include "net/http/webrequest.h"
#include "scalers/scaler.h"

extern const struct scaler_type sqs_scaler_type;

/* ---- Pure; public for tests and fuzzing ---- */

/* The name of the queue at a URL, or a bare name, which the caller owns. NULL with ERR_INVALID. */
char *sqs_queue_name(const char *url, struct err *err);

/* Which attributes are added. */
enum { SQS_IN_FLIGHT = 1, SQS_DELAYED = 2 };
/* 0, or -1 with an error: one that was asked for is missing, or is no number. */
int sqs_read(const char *body, size_t len, unsigned also, double *out, struct err *err);

#endif
