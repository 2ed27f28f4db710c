/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_HTTPLOGIN_H
#define SCALERS_HTTPLOGIN_H

/*
 * As whom a trigger over HTTP asks, and where: the first member of the question's data of each type
 * that has .http (scalers/http/httpsource). build fills it in; the question's key, source and
 * timeout are made of it (scalers/scalerbuild), and it is freed with the data.
 */

#include <stdint.h>

#include "base/buf.h"
#include "base/err.h"
#include "net/web/webaccess.h"

struct httplogin { /* empty when zeroed */
	/*
	 * owned: what is asked, or where the type's requests begin; may be the field of a row.
	 * NULL: nothing is asked over HTTP
	 */
	char *url;
	struct webaccess *access; /* one reference; NULL: no credentials */
	int64_t timeout_ms;       /* of one request; 0: the process's */
};
void httplogin_done(struct httplogin *login);

/*
 * Takes the URL that buf, whose cap is HTTPLOGIN_URL_MAX, has, in the place of the one before.
 * ERR_INVALID about parameter "query" when it did not fit.
 */
#define HTTPLOGIN_URL_MAX ((size_t)1 << 16)
int httplogin_take_url(struct httplogin *login, struct buf *url, struct err *err);

#endif
