/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_SCALEDOBJECT_H
#define CRD_SCALEDOBJECT_H

/*
 * keda.sh/v1alpha1 ScaledObject as a plain struct (doc/keda.md 1.1, 1.2). Everything the CRD allows
 * is decoded, even what decide/validate refuses with an error. Absent differs from zero:
 * INT32_UNSET, NULL.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strmap.h"
#include "crd/condition.h"
#include "crd/meta.h"
#include "crd/optional.h"
#include "crd/trigger.h"

struct fallback {
	int32_t failure_threshold;
	int32_t replicas;
	char *behavior;
};

struct scaling_modifiers {
	char *formula, *target, *activation_target, *metric_type; /* each NULL when absent */
};

struct scaledobject_spec {
	char *target_api_version, *target_kind, *target_name; /* NULL: the default */
	char *env_source_container;
	int32_t polling_interval_s, cooldown_s, initial_cooldown_s; /* INT32_UNSET: the default */
	int32_t idle_replicas, min_replicas, max_replicas;
	bool restore_to_original;
	char *hpa_name;                      /* NULL */
	char *hpa_behavior;                  /* JSON text of horizontalPodAutoscalerConfig.behavior; NULL */
	struct scaling_modifiers *modifiers; /* NULL if absent or all empty */
	struct fallback *fallback;           /* NULL */
	struct trigger *triggers;
	size_t trigger_count;
};

struct metric_state { /* an entry of health or of triggersActivity, about one metric */
	char *metric;
	int32_t failures; /* health */
	bool failing;     /* health */
	bool active;      /* triggersActivity */
};

struct scaledobject_status {                                               /* single texts: owned through crd/intern */
	const char *target_kind;                                           /* "apps/v1.Deployment" */
	const char *gvkr_group, *gvkr_version, *gvkr_kind, *gvkr_resource; /* all or none are set */
	int32_t original_replicas;                                         /* INT32_UNSET */
	int64_t last_active_unix_ms;                                       /* 0 */
	char **external_metric_names;
	size_t external_metric_count;
	char **resource_metric_names;
	size_t resource_metric_count;
	const char *composite_scaler_name;
	struct conditions conditions;
	struct metric_state *health; /* sorted by metric */
	size_t health_count;
	struct metric_state *activity;
	size_t activity_count;
	int32_t paused_replicas; /* INT32_UNSET */
	const char *hpa_name;
	const char *triggers_types;
	const char *authentications_types;
};

struct scaledobject {
	struct meta meta;
	struct scaledobject_spec spec;
	struct scaledobject_status status;
	/*
	 * Why the spec does not decode, for Ready; only possible where the CRD's schema is looser
	 * than ours. meta and status are decoded all the same. Owned; NULL: it was decoded.
	 */
	struct err *spec_err;
	uint64_t spec_digest, status_digest; /* json_digest of each */
};

/* NULL and *err only if not even metadata can be read. The caller owns the result. */
struct scaledobject *scaledobject_decode(const json_t *object, struct err *err);
void scaledobject_free(struct scaledobject *so);

/* The defaults of doc/keda.md 1.1. */
int32_t scaledobject_polling_interval_s(const struct scaledobject_spec *s); /* 30 */
int32_t scaledobject_cooldown_s(const struct scaledobject_spec *s);         /* 300 */
int32_t scaledobject_min(const struct scaledobject_spec *s);                /* 0 */
int32_t scaledobject_hpa_min(const struct scaledobject_spec *s);            /* min if > 0, otherwise 1 */
int32_t scaledobject_hpa_max(const struct scaledobject_spec *s);            /* 100 */
const char *scaledobject_target_kind(const struct scaledobject_spec *s);    /* "Deployment" */
/*
 * group and version of the target: "apps", "v1" by default; "" is the core group. Buffers of at
 * least 254 bytes. ERR_INVALID on a malformed apiVersion.
 */
int scaledobject_target_gv(const struct scaledobject_spec *s, char *group, char *version, size_t size, struct err *err);
/* "keda-hpa-<name>" or horizontalPodAutoscalerConfig.name; returns out. */
char *scaledobject_hpa_name(const struct scaledobject *so, char *out, size_t size);

/* The status as stored (for tests and for scaledobject_status_patch). The caller owns the JSON. */
json_t *scaledobject_status_encode(const struct scaledobject_status *s);
/* into a zeroed one */
void scaledobject_status_copy(struct scaledobject_status *to, const struct scaledobject_status *from);
void scaledobject_status_done(struct scaledobject_status *s);
/* The entry of a metric in health; NULL: none. */
struct metric_state *scaledobject_health(const struct scaledobject_status *s, const char *metric);
/* Inserts a zeroed entry for a metric that has none in health. Moves the others. */
struct metric_state *scaledobject_add_health(struct scaledobject_status *s, const char *metric);
/* Frees one list of a status, which is empty afterwards. */
void scaledobject_free_states(struct metric_state **states, size_t *count);

/*
 * The JSON merge patch that turns `from` into `to` ({"status":{...}}, nulls for removed fields;
 * conditions as a whole list); NULL if they are equal. `stored_times` false compares conditions
 * without times and observedGeneration (KEDA's own CRD prunes them). The caller owns the text.
 */
char *scaledobject_status_patch(const struct scaledobject_status *from, const struct scaledobject_status *to,
	bool stored_times);

#endif
