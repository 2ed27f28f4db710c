/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_JOIN_REPLACEMENT_H
#define CLI_JOIN_REPLACEMENT_H

/*
 * What must be done with the way to this host that stands in the cluster before another one can be
 * applied there. Some of it the API server never changes: the addressType of an EndpointSlice, the
 * family of a Service's addresses. And ports of a Service that somebody else applied stay beside
 * new ones, of which two may not have one name. Pure.
 */

#include <jansson.h>
#include <stdbool.h>

enum replacement {
	REPLACEMENT_NONE,   /* it becomes what is wanted when that is applied */
	REPLACEMENT_CLEAR,  /* first by the patch of replacement_clear_patch */
	REPLACEMENT_DELETE, /* first by deleting it */
};

/* there: NULL: nothing stands there. */
enum replacement replacement_for(const json_t *there, const json_t *wanted);

/* Whether kscaled's manifests made it: by its label. */
bool replacement_is_ours(const json_t *there);

/*
 * A merge patch that leaves nothing of a Service but its name and labels, and one that takes away
 * what of that outlives the application. A Service that is deleted takes along its Endpoints
 * whenever a controller gets to it, which may be after the new ones came; one that becomes a name
 * gives its addresses up as well. The caller owns them.
 */
json_t *replacement_clear_patch(void);
json_t *replacement_tidy_patch(const json_t *wanted); /* NULL: nothing does */

#endif
