/* SPDX-License-Identifier: Apache-2.0 */
/* Extracts the number from an answer, streamed or complete. */
#include "net/http/httpstatus.h"
#include "scalers/metricsapi/metricsapi_parts.h"
#include "scalers/values/yamlpath.h"

bool metricsapi_reads_pieces(const struct metricsapi_question *q)
{
	return q->format == METRICSAPI_XML || q->format == METRICSAPI_PROMETHEUS;
}

void metricsapi_reader_init(struct metricsapi_reader *r, const struct metricsapi_question *q)
{
	*r = (struct metricsapi_reader){ 0 };
	if (q->format == METRICSAPI_XML)
		r->xml = xmlvalue_new(&q->path);
	else if (q->format == METRICSAPI_PROMETHEUS)
		r->page = promtext_new(q->selector);
}

void metricsapi_reader_done(struct metricsapi_reader *r)
{
	xmlvalue_free(r->xml);
	promtext_free(r->page);
	*r = (struct metricsapi_reader){ 0 };
}

bool metricsapi_feed(struct metricsapi_reader *r, const char *bytes, size_t len, size_t *buffered)
{
	if (len == 0)
		return true;
	r->line_is_open = bytes[len - 1] != '\n';
	r->refused = (r->page ? promtext_feed(r->page, bytes, len) : xmlvalue_feed(r->xml, bytes, len)) != 0;
	*buffered = r->page ? promtext_buffered(r->page) : xmlvalue_buffered(r->xml);
	return !r->refused;
}

static int find_number(const struct metricsapi_question *q, const struct webresponse *answer,
	struct metricsapi_reader *r, double *out, struct err *err)
{
	switch (q->format) {
	case METRICSAPI_JSON: return jsonpath_number(q->json, answer->body, answer->len, out, err);
	case METRICSAPI_XML: return xmlvalue_end(r->xml, out, err);
	case METRICSAPI_YAML: return yamlpath_number(&q->path, answer->body, answer->len, out, err);
	case METRICSAPI_PROMETHEUS: return promtext_end(r->page, out, err);
	}
	return -1;
}

/*
 * JSON and XML show where they end, metric pages do not: without a length in HTTP and without a
 * final newline, "jobs 1" may have been "jobs 12".
 */
static bool may_be_cut(const struct metricsapi_question *q, const struct webresponse *answer,
	const struct metricsapi_reader *r)
{
	if (answer->measured)
		return false;
	if (q->format == METRICSAPI_PROMETHEUS)
		return r->line_is_open;
	return q->format == METRICSAPI_YAML && answer->len > 0 && answer->body[answer->len - 1] != '\n';
}

int metricsapi_number(const struct metricsapi_question *q, const struct webresponse *answer,
	struct metricsapi_reader *r, double *out, struct err *err)
{
	if (answer && answer->status != 200) {
		err_set(err, httpstatus_kind(answer->status), "api returned %d", answer->status);
		err->http_status = answer->status;
		return -1;
	}
	if (answer && may_be_cut(q, answer, r))
		return err_set(err, ERR_INVALID,
			"the answer may have been cut off: it has no final newline and was sent without "
			"Content-Length and not chunked");
	if (find_number(q, answer, r, out, err))
		return err_wrap(err, "valueLocation \"%.*s\"", METRICSAPI_LOCATION_SHOWN, q->location);
	return 0;
}
