/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_DISCOVERYDOCS_H
#define SERVE_DISCOVERYDOCS_H

/*
 * The templates of discovery documents: JSON written with ' for ", @V for kscaled's version, @A for
 * the architecture, @H and @I for the hashes of the OpenAPI v3 documents of the two groups.
 * discovery.c makes the documents from them.
 */

enum document {
	DOCUMENT_GROUPS,    /* the forms of /apis stand first: discovery_handle_groups */
	DOCUMENT_GROUPS_V2, /* aggregated discovery */
	DOCUMENT_GROUPS_V2BETA1,
	DOCUMENT_GROUP,
	DOCUMENT_RESOURCES,
	DOCUMENT_INSIGHT_GROUP,
	DOCUMENT_INSIGHT_RESOURCES,
	DOCUMENT_VERSION,
	DOCUMENT_OPENAPI_V2,
	DOCUMENT_OPENAPI_V3_GROUP,
	DOCUMENT_OPENAPI_V3_INSIGHT,
	DOCUMENT_OPENAPI_V3, /* after the documents whose hashes it contains */
	DOCUMENTS,
};

struct document_text {
	const char *content_type;
	const char *text;
};
extern const struct document_text discoverydocs_all[DOCUMENTS];

#endif
