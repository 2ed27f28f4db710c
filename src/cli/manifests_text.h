/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_MANIFESTS_TEXT_H
#define CLI_MANIFESTS_TEXT_H

/*
 * The templates of src/cli/manifests, embedded at build time by embed.awk. manifests.c replaces the
 * words between @ signs. Each has one or more YAML documents and ends with a line end.
 */

extern const char manifests_namespace[];
extern const char manifests_crd_scaledobjects[];
extern const char manifests_crd_scaledjobs[];
extern const char manifests_crd_triggerauthentications[];
extern const char manifests_crd_clustertriggerauthentications[];
extern const char manifests_serviceaccount[];
extern const char manifests_rbac[];
extern const char manifests_rbac_binding[];
extern const char manifests_rbac_workloads[];
extern const char manifests_rbac_scale[];
extern const char manifests_rbac_jobs[];
extern const char manifests_rbac_secrets[];
extern const char manifests_rbac_tokens[];
extern const char manifests_rbac_events[];
extern const char manifests_rbac_own[];
extern const char manifests_rbac_aggregated[];
extern const char manifests_rbac_scale_targets[];
extern const char manifests_service_pod[];
extern const char manifests_service_name[];
extern const char manifests_service_address[];
extern const char manifests_apiservice[];
extern const char manifests_webhook[];
extern const char manifests_deployment[];
extern const char manifests_poddisruptionbudget[];
extern const char manifests_networkpolicy[];
extern const char manifests_monitor_pod[];
extern const char manifests_monitor_service[];

/* Rules that are inserted into roles. */
extern const char manifests_rules_webhook[];
extern const char manifests_rules_limitranges[];
extern const char manifests_rules_tokens[];
extern const char manifests_rules_own_token[];
extern const char manifests_rules_own_service[];
extern const char manifests_rules_release[];
extern const char manifests_rules_scale_all[];
extern const char manifests_rules_scale_kind[];

/* Lines that are inserted into the Deployment and the Service. */
extern const char manifests_pod_spread[];
extern const char manifests_service_status_port[];

#endif
