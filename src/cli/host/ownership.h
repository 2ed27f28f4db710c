/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HOST_OWNERSHIP_H
#define CLI_HOST_OWNERSHIP_H

/*
 * Whose an object in the cluster is, for sub-commands that apply and delete what
 * `kscaled manifests` prints. What another installation made may be brought up to date, but it is
 * never marked as ours, and never deleted. Pure.
 */

#include <jansson.h>

/*
 * NULL: kscaled's manifests made it: it has our label and nothing says otherwise. Else why not, as
 * "Helm release keda/keda made it"; the caller owns the text.
 */
char *ownership_of_others(const json_t *object);

/*
 * Makes what is about to be applied bear what already stands there (NULL: nothing does): over an
 * object of others it has no labels, so that it stays theirs.
 */
void ownership_respect(json_t *wanted, const json_t *there);

#endif
