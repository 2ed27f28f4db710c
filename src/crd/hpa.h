/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_HPA_H
#define CRD_HPA_H

/*
 * A live autoscaling/v2 HorizontalPodAutoscaler, reduced to what is compared and shown (the desired
 * one is JSON, made by decide/hpaspec). Of its spec only a fingerprint of the normal form is kept,
 * to save memory.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/quantity.h"
#include "crd/condition.h"
#include "crd/meta.h"

struct hpa_says { /* a condition of the status */
	enum condition_status status;
	const char *reason; /* owned through crd/intern; NULL: the condition is absent */
	/* likewise; NULL unless the status is unusual (AbleToScale=False, ScalingLimited=True) */
	const char *message;
};

struct hpa_external {           /* spec.metrics of type External */
	char *name;             /* owned */
	struct quantity target; /* averageValue or value */
};

struct hpa {
	struct meta meta;
	bool slim; /* made by hpa_decode_slim: only meta's identity and the target are set */
	/*
	 * scaleTargetRef as written. target_name is NULL if annotation
	 * validations.keda.sh/hpa-ownership lets the HPA share its target.
	 */
	const char *target_api_version, *target_kind; /* owned through crd/intern */
	char *target_name;                            /* owned */
	/*
	 * owned; after a restart the only record of the metrics that a source named when the HPA
	 * was made
	 */
	struct hpa_external *externals;
	size_t external_count;
	uint64_t spec_fingerprint; /* hpa_spec_fingerprint */
	/* condition ScalingActive; "" when absent; owned through crd/intern */
	const char *scaling_active_status, *scaling_active_reason, *scaling_active_message;
	int32_t current_replicas, desired_replicas;
	/* Shown to users, never used for a decision. */
	struct hpa_says able_to_scale, scaling_limited;
	int64_t last_scale_unix_ms; /* 0: never */
};

struct hpa *hpa_decode(const json_t *object, struct err *err); /* the caller owns it */
/* The same for HPAs of other owners, of which there may be thousands. */
struct hpa *hpa_decode_slim(const json_t *object, struct err *err);
void hpa_free(struct hpa *h);

/*
 * The spec as the API server stores it: defaults filled in (k8s.io/kubernetes
 * pkg/apis/autoscaling/v2/defaults.go), quantities canonical, nulls and empty lists removed (except
 * policies, where an empty list is an error). A desired spec and the same one read back then differ
 * at most in the order of keys, and nothing is written. Fields that Kubernetes 1.36 does not know
 * are removed, too: the API server may prune them, or a later one may add them. A value that is not
 * an object counts as an empty one. The caller owns the result.
 */
json_t *hpa_spec_normal(const json_t *spec);
uint64_t hpa_spec_fingerprint(const json_t *spec); /* json_digest of that */

/*
 * spec.behavior as JSON text: a tolerance that is a number becomes its shortest text. The caller
 * owns it.
 */
char *hpa_behavior_text(const json_t *behavior);

#endif
