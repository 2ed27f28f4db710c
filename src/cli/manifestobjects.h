/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_MANIFESTOBJECTS_H
#define CLI_MANIFESTOBJECTS_H

/*
 * What `kscaled manifests` prints, as objects and their places at the API server, for sub-commands
 * that put them there and take them away again. Asks nobody.
 */

#include <jansson.h>

#include "base/err.h"
#include "cli/documents.h"
#include "cli/manifests.h"

/*
 * In the order in which they are to be applied. NULL: a parameter is wrong, as manifests_print
 * says.
 */
struct documents *manifestobjects_make(const struct manifests_params *params, struct err *err);

/*
 * "/apis/apps/v1/namespaces/x/deployments/y", of an object that has a kind, an apiVersion and a
 * name; the plural is made from the kind, which is right for the kinds of Kubernetes. The caller
 * owns it.
 */
char *manifestobjects_path(const json_t *object);

/* "Deployment x/y", for people. The caller owns it. */
char *manifestobjects_title(const json_t *object);

#endif
