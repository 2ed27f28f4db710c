/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_INSIGHT_INSIGHTQUERY_H
#define SERVE_INSIGHT_INSIGHTQUERY_H

/*
 * The query of a request to the insight API, by Kubernetes' rules: labelSelector, fieldSelector of
 * metadata.name and metadata.namespace, includeObject of a Table, watch. A filter that cannot be
 * applied is an error, because an unfiltered list could be taken for a filtered one. Other
 * parameters are ignored (a list may always be longer than its limit).
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "crd/meta.h"
#include "net/httpd/httpd.h"

/* Terms of a selector: all are matched against all objects in one turn. */
#define INSIGHTQUERY_LABELS_MAX 32
#define INSIGHTQUERY_FIELDS_MAX 8

/* What a Table's row contains besides its cells. */
enum insightquery_include { INSIGHTQUERY_METADATA, INSIGHTQUERY_NOTHING, INSIGHTQUERY_OBJECT };

struct insightquery { /* owns its texts */
	enum insightquery_include include;
	bool watch;
	char *labels; /* from setselector_normal; NULL: any */
	char *fields; /* the text that the values below point into; NULL */
	struct insightquery_field {
		const char *value;
		bool of_namespace, differs;
	} field[INSIGHTQUERY_FIELDS_MAX];
	size_t field_count;
};

/*
 * Into an empty one, to be freed in any case. ERR_INVALID names the parameter and what is wrong in
 * it.
 */
int insightquery_read(const struct httpd_request *r, struct insightquery *out, struct err *err);
void insightquery_done(struct insightquery *q);

bool insightquery_matches(const struct insightquery *q, const struct meta *m);

#endif
