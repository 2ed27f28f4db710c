/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_HPA_H
#define CRD_HPA_H

/*
 * autoscaling/v2 HorizontalPodAutoscaler: the desired one as JSON, made by decide/hpaspec; the live
 * one projected to what we compare and show. The live spec is kept only as a fingerprint of its
 * normal form: 500 HPAs must not cost megabytes.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/quantity.h"
#include "crd/condition.h"
#include "crd/meta.h"

struct hpa_says { /* another condition of the status */
	enum condition_status status;
	const char *reason; /* crd/intern's; NULL: there is no such condition */
	/*
	 * the same; only where it tells of something unusual (AbleToScale=False,
	 * ScalingLimited=True): 500 HPAs say the same otherwise; NULL
	 */
	const char *message;
};

struct hpa_external {           /* spec.metrics of type External */
	char *name;             /* owned */
	struct quantity target; /* of whichever type */
};

struct hpa {
	struct meta meta;
	bool slim; /* of somebody else: of all the rest only what it scales is known */
	/*
	 * What it scales, as it is written there; a target_name of NULL: it does not matter, as the
	 * HPA says itself (annotation validations.keda.sh/hpa-ownership).
	 */
	const char *target_api_version, *target_kind; /* crd/intern's */
	char *target_name;                            /* owned */
	/*
	 * owned; what a source that names its metrics itself had said when the HPA was made: all
	 * that is left of it after a restart
	 */
	struct hpa_external *externals;
	size_t external_count;
	uint64_t spec_fingerprint; /* hpa_spec_fingerprint */
	/* What it says (status.conditions ScalingActive; "" when absent); crd/intern's. */
	const char *scaling_active_status, *scaling_active_reason, *scaling_active_message;
	int32_t current_replicas, desired_replicas;
	/* For people only. */
	struct hpa_says able_to_scale, scaling_limited;
	int64_t last_scale_unix_ms; /* 0: never */
};

struct hpa *hpa_decode(const json_t *object, struct err *err); /* the caller owns it */
/* the same; a cluster may have ten thousand of others */
struct hpa *hpa_decode_slim(const json_t *object, struct err *err);
void hpa_free(struct hpa *h);

/*
 * The spec as the API server stores it: its defaults filled in, quantities canonical, nulls and
 * empty lists gone (but for policies, which are then wrong); so a desired spec and the same one
 * read back are equal but for the order of keys, and that means nothing to write. The caller owns
 * it. (Defaults: k8s.io/kubernetes pkg/apis/autoscaling/v2/defaults.go; behavior's
 * absent policies and windows.) Fields that Kubernetes 1.36 does not know are left out on both
 * sides: neither what the API server prunes nor what a later one fills in by itself is a
 * difference. Something that is no object counts as an empty one.
 */
json_t *hpa_spec_normal(const json_t *spec);
uint64_t hpa_spec_fingerprint(const json_t *spec); /* json_digest of that */

/*
 * spec.behavior as text to keep and to write: its tolerances, which may be written as numbers,
 * become texts with no digit more than was meant. The caller owns it.
 */
char *hpa_behavior_text(const json_t *behavior);

#endif
