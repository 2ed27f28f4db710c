/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CHECK_CRDSCHEMA_H
#define CLI_CHECK_CRDSCHEMA_H

/*
 * The OpenAPI schemas of kscaled's kinds, from the CustomResourceDefinitions that the program
 * contains. Each is parsed when it is first needed.
 */

#include <jansson.h>

#define CRDSCHEMA_API_VERSION "keda.sh/v1alpha1"

struct crdschema;

struct crdschema *crdschema_new(void);
void crdschema_free(struct crdschema *s);

const json_t *crdschema_get(struct crdschema *s, const char *kind); /* borrowed; NULL: no such kind */

#endif
