/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/page/metricspage.h"

#include "base/exposition.h"
#include "serve/page/kedametrics.h"
#include "serve/page/selfmetrics.h"
#include "serve/request.h"

#define PAGE_MAX ((size_t)32 << 20)

void metricspage_handle(struct request *r)
{
	const struct serve *s = r->serve;
	struct buf page = BUF_INIT(PAGE_MAX);

	counters_write(s->cache->counters, &page);
	selfmetrics_write(s, &page);
	kedametrics_write(s, &page);
	if (buf_failed(&page))
		request_refuse(r, APISTATUS_INTERNAL_ERROR, "the page would be longer than %zu bytes", PAGE_MAX);
	else
		request_reply(r, 200, EXPOSITION_CONTENT_TYPE, page.data, page.len);
	buf_done(&page);
}
