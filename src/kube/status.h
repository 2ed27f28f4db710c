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

/* The error kind of an HTTP status. */
enum err_kind status_kind(int http_status);

/*
 * From a failing answer. A body that is no Status is quoted in short when it is text (a proxy's
 * page), and not when it is an object, which may hold a secret.
 * retry_after_ms: from the header, 0 when absent; a Status' retryAfterSeconds is used, too. What is
 * asked for is bounded: a proxy before the API server may send away for a day with one page, and
 * would be obeyed by all that watches and renews.
 */
#define STATUS_RETRY_AFTER_MAX_MS 30000
void status_to_err(int http_status, const char *body, size_t len, int64_t retry_after_ms, struct err *err);

/* From a Status object with its own `code`, as watches send it. */
void status_object_to_err(const json_t *status, struct err *err);

#endif
