/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HOST_OWNERSHIP_H
#define CLI_HOST_OWNERSHIP_H

/*
 * The owner of an object in the cluster, for sub-commands that apply and delete the objects of
 * `kscaled manifests`. Objects of another installation may be updated, but are never labelled as
 * ours and never deleted. Pure.
 */

#include <jansson.h>

/*
 * NULL: made by kscaled's manifests: it has our label and no sign of another owner. Else the
 * reason, "Helm release keda/keda made it"; the caller owns the text.
 */
char *ownership_of_others(const json_t *object);

/*
 * Adapts an object to be applied to the existing one (NULL: none): over another owner's object it
 * has no labels, so that it stays theirs.
 */
void ownership_respect(json_t *wanted, const json_t *there);

#endif
