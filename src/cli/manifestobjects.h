/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_MANIFESTOBJECTS_H
#define CLI_MANIFESTOBJECTS_H

/*
 * The output of `kscaled manifests` as objects with their paths at the API server, for sub-commands
 * that apply and delete them. Makes no requests.
 */

#include <jansson.h>

#include "base/err.h"
#include "cli/documents.h"
#include "cli/manifests.h"

/* In the order of application. NULL: an invalid parameter, as for manifests_print. */
struct documents *manifestobjects_make(const struct manifests_params *params, struct err *err);

/*
 * "/apis/apps/v1/namespaces/x/deployments/y", for an object with a kind, an apiVersion and a name.
 * The plural is derived from the kind, which is right for Kubernetes' own. The caller owns it.
 */
char *manifestobjects_path(const json_t *object);

/* "Deployment x/y", for messages. The caller owns it. */
char *manifestobjects_title(const json_t *object);

#endif
