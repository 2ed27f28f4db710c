/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SELECTOR_H
#define BASE_SELECTOR_H

/*
 * Equality label selectors as they come in `?labelSelector=` of a metric request: "a=b,c==d".
 * Set-based ones ("in", "notin", "!a", "a", "a!=b") are told apart and refused by name, as KEDA
 * refuses them (keda-core.md 5.2).
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strmap.h"

/*
 * All of text (already percent-decoded) into an empty map; "" gives an empty map. ERR_INVALID names
 * the part. Keys and values are checked as Kubernetes does.
 */
int selector_parse(const char *text, struct strmap *out, struct err *err);

/*
 * What Kubernetes takes for the key and for the value of a label
 * (k8s.io/apimachinery/pkg/util/validation); an empty value is one.
 */
bool selector_is_key(const char *text, size_t len);
bool selector_is_value(const char *text, size_t len);

#endif
