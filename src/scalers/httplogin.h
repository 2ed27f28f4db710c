/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_HTTPLOGIN_H
#define SCALERS_HTTPLOGIN_H

/*
 * URL and credentials of a trigger over HTTP: the first member of the question's data of each type
 * that has .http (scalers/http/httpsource). build fills it in; scalers/scalerbuild takes the
 * question's key, source and timeout from it and frees it with the data.
 */

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "net/web/webaccess.h"

struct httplogin { /* empty when zeroed */
	/*
	 * owned: the URL to request, or its beginning; may be the field of a row. NULL: no
	 * requests over HTTP
	 */
	char *url;
	struct webaccess *access; /* one reference; NULL: no credentials */
	int64_t timeout_ms;       /* of one request; 0: the process's */
};
void httplogin_done(struct httplogin *login);

/* Makes the access. Takes config->identity. 0, or -1 with err. */
int httplogin_log_in(struct httplogin *login, const struct webaccess_config *config, struct err *err);

/*
 * Replaces the URL by the content of buf, whose cap is HTTPLOGIN_URL_MAX. ERR_INVALID about
 * parameter "query" when it did not fit.
 */
#define HTTPLOGIN_URL_MAX ((size_t)1 << 16)
int httplogin_take_url(struct httplogin *login, struct buf *url, struct err *err);

#endif
