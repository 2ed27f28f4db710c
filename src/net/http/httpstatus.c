/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http/httpstatus.h"

enum err_kind httpstatus_kind(int status)
{
	if (status == 401 || status == 403)
		return ERR_DENIED;
	if (status == 404)
		return ERR_MISSING;
	return status == 408 || status == 429 || status >= 500 ? ERR_TEMPORARY : ERR_INVALID;
}
