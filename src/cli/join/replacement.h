/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_JOIN_REPLACEMENT_H
#define CLI_JOIN_REPLACEMENT_H

/*
 * How an existing Service or EndpointSlice must be prepared before a new address can be applied
 * over it. Some fields are immutable: the addressType of an EndpointSlice, the IP family of a
 * Service. And ports applied by another field manager stay beside the new ones and may clash by
 * name. Pure.
 */

#include <jansson.h>
#include <stdbool.h>

enum replacement {
	REPLACEMENT_NONE,   /* apply over it */
	REPLACEMENT_CLEAR,  /* first patch it with replacement_clear_patch */
	REPLACEMENT_DELETE, /* first delete it */
};

/* there: the existing object; NULL: none. */
enum replacement replacement_for(const json_t *there, const json_t *wanted);

/* By its label: made by kscaled's manifests. */
bool replacement_is_ours(const json_t *there);

/*
 * A merge patch that turns a Service into an empty ExternalName, and one that removes what applying
 * leaves of it. Deleting the Service instead would delete its Endpoints later, perhaps the new
 * ones. The caller owns them.
 */
json_t *replacement_clear_patch(void);
json_t *replacement_tidy_patch(const json_t *wanted); /* NULL: nothing left */

#endif
