/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http/httpstatus.h"

#include <stdio.h>

enum err_kind httpstatus_kind(int status)
{
	if (status == 401 || status == 403)
		return ERR_DENIED;
	if (status == 404)
		return ERR_MISSING;
	return status == 408 || status == 429 || status >= 500 ? ERR_TEMPORARY : ERR_INVALID;
}

/* IANA assigns no status above x31, except these. */
const char *httpstatus_label(int status, char out[HTTPSTATUS_TEXT])
{
	if (status < 100 || status >= 600 || (status % 100 > 31 && status != 451))
		return "other";
	snprintf(out, HTTPSTATUS_TEXT, "%d", status);
	return out;
}
