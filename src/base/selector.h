/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SELECTOR_H
#define BASE_SELECTOR_H

/*
 * Equality-based label selectors, as the parameter `labelSelector` of a metric request has them:
 * "a=b,c==d". Set-based requirements ("in", "notin", "!a", "a", "a!=b") are refused with an error
 * that names them, as by KEDA (doc/keda.md 5.2). Selectors of Pods: base/setselector.h. Pure.
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strmap.h"

/*
 * Parses text, which is already percent-decoded, into an empty map; "" gives an empty map.
 * ERR_INVALID names the requirement; then *out is untouched.
 */
int selector_parse(const char *text, struct strmap *out, struct err *err);

/*
 * Whether Kubernetes accepts text as the key, or the value, of a label
 * (k8s.io/apimachinery/pkg/util/validation). A value may be empty.
 */
bool selector_is_key(const char *text, size_t len);
bool selector_is_value(const char *text, size_t len);

#endif
