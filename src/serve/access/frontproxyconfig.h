/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_ACCESS_FRONTPROXYCONFIG_H
#define SERVE_ACCESS_FRONTPROXYCONFIG_H

/*
 * The configuration of the front proxy (the aggregator) in ConfigMap
 * kube-system/extension-apiserver-authentication: the CA of its certificate, its allowed common
 * names, and the headers that name the user (k8s.io/apiserver
 * pkg/server/options/authentication_dynamic_request_header.go). A value.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"

struct frontproxy_names { /* owned strings */
	char **list;
	size_t count;
};

struct frontproxy_config {
	char *ca_pem;
	struct frontproxy_names allowed;       /* common names; empty: any */
	struct frontproxy_names user_headers;  /* the first that the request has is used */
	struct frontproxy_names uid_headers;   /* Kubernetes 1.32 and later; may be empty */
	struct frontproxy_names group_headers; /* each value is a group */
	struct frontproxy_names extra_prefixes;
};

/*
 * Into a zeroed value. ERR_MISSING: the API server has no front proxy configured; ERR_INVALID names
 * the key that is wrong. After an error nothing needs to be freed.
 */
int frontproxy_config_decode(const json_t *configmap, struct frontproxy_config *out, struct err *err);
void frontproxy_config_done(struct frontproxy_config *c);
bool frontproxy_config_allows(const struct frontproxy_config *c, const char *common_name);

#endif
