/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_STATUS_H
#define KUBE_STATUS_H

/*
 * Converts failures of the API server, an HTTP status with a `Status` object
 * (k8s.io/apimachinery/pkg/apis/meta/v1), to struct err. Pure; used by calls and by watches, where
 * a Status also arrives inside a stream.
 */

#include <jansson.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

/*
 * From a failing answer. A body that is not a Status is quoted in short if it is text (a proxy's
 * page), but not if it is an object, which may hold a secret. retry_after_ms: from the header, 0 if
 * absent; a Status' retryAfterSeconds is used, too. The delay is bounded: otherwise one page of a
 * proxy before the API server could stop all watches and renewals for a day.
 */
#define STATUS_RETRY_AFTER_MAX_MS 30000
void status_to_err(int http_status, const char *body, size_t len, int64_t retry_after_ms, struct err *err);

/* From a Status object with its own `code`, as watches send it. */
void status_object_to_err(const json_t *status, struct err *err);

#endif
