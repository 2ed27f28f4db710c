/* SPDX-License-Identifier: Apache-2.0 */
#include "net/http/webrequest.h"

#include "base/mem.h"

void webrequest_done(struct webrequest *r)
{
	mem_free_secret(r->url);
	mem_free_secret(r->body);
	strmap_done_secret(&r->headers);
	*r = (struct webrequest){ 0 };
}
