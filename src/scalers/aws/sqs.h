/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_AWS_SQS_H
#define SCALERS_AWS_SQS_H

/* Trigger type `aws-sqs-queue` (doc/keda.md 8.21): messages in a queue of SQS. */

#include "base/err.h"
#include "net/http/webrequest.h"

/* ---- Pure; public for tests and fuzzing ---- */

/* The queue's name from a URL or a bare name, which the caller owns. NULL with ERR_INVALID. */
char *sqs_queue_name(const char *url, struct err *err);

/* Attributes to add. */
enum { SQS_IN_FLIGHT = 1, SQS_DELAYED = 2 };
/* 0, or -1 with an error: an attribute is missing or not a number. */
int sqs_read(const char *body, size_t len, unsigned also, double *out, struct err *err);

#endif
