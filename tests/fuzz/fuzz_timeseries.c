/* SPDX-License-Identifier: Apache-2.0 */

/*
 * An answer of Cloud Monitoring, which is also the name of a subscription, a mode and an
 * aggregation: whatever comes, it is a finite number, nothing, another page, or an error on one
 * line; and no name ends a text of the query that it stands in.
 */

#include <math.h>
#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "scalers/google/pubsubquery.h"
#include "scalers/google/timeseriesreply.h"

static void check_line(const struct err *err)
{
	must(err->kind != ERR_NONE && err->kind != ERR_BUG);
	must(*err->msg && strpbrk(err->msg, "\r\n\t") == NULL);
}

static void check_answer(const char *body, size_t len)
{
	static const int statuses[] = { 400, 401, 403, 404, 429, 500, 503 };
	struct err err = { 0 };
	double value = NAN;
	char *page = NULL;
	enum timeseriesreply reply = timeseriesreply_read(body, len, &value, &page, &err);

	must(reply != TIMESERIESREPLY_VALUE || isfinite(value));
	must((page != NULL) == (reply == TIMESERIESREPLY_MORE));
	must(!page || *page);
	if (reply == TIMESERIESREPLY_FAILED)
		check_line(&err);
	free(page);
	err = (struct err){ 0 };
	timeseriesreply_refusal(statuses[len % MEM_COUNT(statuses)], body, len, &err);
	check_line(&err);
}

static size_t count(const char *text, char c)
{
	size_t n = 0;

	for (; *text; text++)
		n += *text == c;
	return n;
}

static void check_query(const struct pubsubquery *q, const char *project)
{
	char *text;

	if (pubsubquery_check(q, NULL))
		return;
	text = pubsubquery_text(q, project);
	must(count(text, '\'') == 6 && count(text, '|') == (q->aggregation ? 6 : 3));
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_dupn((const char *)data, size), *project, *id;
	struct pubsubquery q = { .mode = text, .id = "s", .horizon_ms = (int64_t)size };

	check_answer(text, size);
	check_query(&q, "p");
	q.mode = "SubscriptionSize";
	q.aggregation = text;
	check_query(&q, "p");
	q.aggregation = NULL;
	if (pubsubquery_name(text, &project, &id, NULL) == 0) {
		q.id = id;
		check_query(&q, project ? project : "p");
	}
	free(project);
	free(id);
	free(text);
	return 0;
}
