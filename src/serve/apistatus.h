/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_APISTATUS_H
#define SERVE_APISTATUS_H

/*
 * Failures as Kubernetes clients expect them: a `Status` object with a reason for programs and a
 * message for people (k8s.io/apimachinery pkg/apis/meta/v1/types.go).
 */

#include "base/buf.h"

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
	APISTATUS_NOT_YET, /* it will be read soon: retry */
};

struct apistatus_terms {
	int code;
	const char *reason;
	const char *header, *value; /* the header that goes with the code; NULL */
};
const struct apistatus_terms *apistatus_terms(enum apistatus what);

void apistatus_write(struct buf *out, enum apistatus what, const char *message);

#endif
