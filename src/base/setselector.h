/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SETSELECTOR_H
#define BASE_SETSELECTOR_H

/*
 * The whole language of label selectors, as people write it for pods: "app=web,tier in (a,b),env
 * notin (test),!canary,gpu,size>3" (k8s.io/apimachinery/pkg/labels). It is checked and written
 * evenly here, for the API server, which evaluates it; and evaluated, where kscaled is the server.
 * Selectors of metric requests are another matter: base/selector.h.
 */

#include <stdbool.h>

#include "base/err.h"
#include "base/strmap.h"

/*
 * The same without white space that says nothing and with "=" for "=="; the caller owns it. NULL
 * and ERR_INVALID, which names the place (character, from 1). An empty one is none.
 */
char *setselector_normal(const char *text, struct err *err);

/*
 * Whether labels are as such a text wants them: what setselector_normal gave, and nothing else
 * (k8s.io/apimachinery/pkg/labels/selector.go, Requirement.Matches: != and notin hold where there
 * is no such label; < and > only of whole numbers).
 */
bool setselector_matches(const char *normal, const struct strmap *labels);

#endif
