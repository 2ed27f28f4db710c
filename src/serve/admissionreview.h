/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_ADMISSIONREVIEW_H
#define SERVE_ADMISSIONREVIEW_H

/*
 * The request and the response of an admission webhook: AdmissionReview of admission.k8s.io/v1
 * (k8s.io/api admission/v1). Only the envelope: cache/admit judges the objects inside. Pure; its
 * input is untrusted.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/buf.h"
#include "base/err.h"
#include "cache/admit.h"

#define ADMISSIONREVIEW_UID_MAX 128

struct admissionreview {
	json_t *document; /* owned; the rest is borrowed from it */
	const char *uid;
	const char *kind;         /* of group keda.sh; not checked */
	const char *operation;    /* "CREATE", "UPDATE", ... */
	const char *namespace_;   /* "": not namespaced */
	const json_t *object;     /* NULL on DELETE */
	const json_t *old_object; /* NULL on CREATE */
	bool dry_run;
};

/* ERR_INVALID names what is wrong in the envelope; then nothing needs to be freed. */
int admissionreview_read(const char *body, size_t len, struct admissionreview *out, struct err *err);
void admissionreview_done(struct admissionreview *r);

/* Writes the response. A refusal is 403 Forbidden, like KEDA's (controller-runtime's Denied). */
void admissionreview_write(struct buf *out, const char *uid, const struct admit_verdict *verdict);

#endif
