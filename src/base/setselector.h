/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_SETSELECTOR_H
#define BASE_SETSELECTOR_H

/*
 * The whole language of label selectors, as people write it for pods: "app=web,tier in (a,b),env
 * notin (test),!canary,gpu,size>3" (k8s.io/apimachinery/pkg/labels). It is only checked and written
 * evenly here; who is asked with it, the API server, evaluates it. Selectors of metric requests are
 * another matter: base/selector.h.
 */

#include "base/err.h"

/*
 * The same without white space that says nothing and with "=" for "=="; the caller owns it. NULL
 * and ERR_INVALID, which names the place (character, from 1). An empty one is none.
 */
char *setselector_normal(const char *text, struct err *err);

#endif
