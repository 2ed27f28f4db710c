/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SETSELECTOR_H
#define BASE_SETSELECTOR_H

/*
 * Set-based label selectors, as for Pods: "app=web,tier in (a,b),env notin
 * (test),!canary,gpu,size>3" (k8s.io/apimachinery/pkg/labels). Validates and normalises them, for
 * requests to the API server, and evaluates them, where kscaled is the server. Selectors of metric
 * requests: base/selector.h.
 */

#include <stdbool.h>

#include "base/err.h"
#include "base/strmap.h"

/*
 * The selector without redundant white space and with "=" for "=="; the caller owns it. NULL and
 * ERR_INVALID, which names the character (from 1). An empty text is invalid.
 */
char *setselector_normal(const char *text, struct err *err);

/*
 * Whether labels match. normal: a result of setselector_normal. As Requirement.Matches in
 * k8s.io/apimachinery/pkg/labels/selector.go: != and notin match where the label is missing; < and
 * > only whole numbers.
 */
bool setselector_matches(const char *normal, const struct strmap *labels);

#endif
