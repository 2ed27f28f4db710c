/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_APISTATUS_H
#define SERVE_APISTATUS_H

/*
 * Failures as Kubernetes clients read them: a `Status` object with a reason they branch on and a
 * message for people (k8s.io/apimachinery pkg/apis/meta/v1/types.go).
 */

#include <stdint.h>

#include "base/buf.h"

struct request;

enum apistatus {
	APISTATUS_BAD_REQUEST,
	APISTATUS_UNAUTHORIZED,
	APISTATUS_FORBIDDEN,
	APISTATUS_NOT_FOUND,
	APISTATUS_METHOD_NOT_ALLOWED,
	APISTATUS_NOT_ACCEPTABLE,
	APISTATUS_UNSUPPORTED_MEDIA_TYPE,
	APISTATUS_TOO_MANY_REQUESTS,
	APISTATUS_INTERNAL_ERROR,
	APISTATUS_UNAVAILABLE,
};

void apistatus_write(struct buf *out, enum apistatus what, const char *message);

/*
 * Ends the request with this Status, and with the header its code asks for (401: WWW-Authenticate,
 * 429: Retry-After).
 */
void apistatus_reply(struct request *r, enum apistatus what, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

#endif
