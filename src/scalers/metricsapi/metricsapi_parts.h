/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_METRICSAPI_METRICSAPI_PARTS_H
#define SCALERS_METRICSAPI_METRICSAPI_PARTS_H

/*
 * Shared by the three files of metrics-api: metricsapi.c builds a question, metricsapi_ask.c sends
 * it, metricsapi_read.c extracts the number from an answer.
 */

#include <stdbool.h>
#include <stdint.h>

#include "net/web/webauth.h"
#include "scalers/httplogin.h"
#include "scalers/metricsapi/promselector.h"
#include "scalers/metricsapi/promtext.h"
#include "scalers/metricsapi/serviceurls.h"
#include "scalers/metricsapi/xmlvalue.h"
#include "scalers/scaler.h"
#include "scalers/values/dotpath.h"
#include "scalers/values/jsonpath.h"

#define METRICSAPI_LOCATION_SHOWN 120 /* bytes of valueLocation shown in messages */

enum metricsapi_format { METRICSAPI_JSON, METRICSAPI_XML, METRICSAPI_YAML, METRICSAPI_PROMETHEUS };
enum metricsapi_aggregation { METRICSAPI_AVERAGE, METRICSAPI_SUM, METRICSAPI_MAX, METRICSAPI_MIN };

struct metricsapi_question {
	struct httplogin login;
	enum metricsapi_format format;
	char *location;
	bool aggregates;
	enum metricsapi_aggregation aggregation; /* if so */
	struct jsonpath *json;                   /* owned; of location; by format one of these three */
	struct dotpath path;
	struct promselector *selector;
	struct serviceurls service; /* if it aggregates */
};

/*
 * At most so much of an answer is read. Metric pages and XML are parsed as they arrive; JSON and
 * YAML become trees, which blocks the loop for some milliseconds.
 */
#define METRICSAPI_STREAM_MAX ((size_t)8 << 20)
#define METRICSAPI_TREE_MAX   ((size_t)1 << 20)

/* Parses a metric page or XML while it arrives. */
struct metricsapi_reader {
	struct promtext *page; /* owned; by format one of these */
	struct xmlvalue *xml;
	bool refused; /* the content is invalid */
	bool line_is_open;
};
bool metricsapi_reads_pieces(const struct metricsapi_question *q);
void metricsapi_reader_init(struct metricsapi_reader *r, const struct metricsapi_question *q);
void metricsapi_reader_done(struct metricsapi_reader *r);
/* Returns false when no more data is wanted; *buffered: bytes that the parser buffers. */
bool metricsapi_feed(struct metricsapi_reader *r, const char *bytes, size_t len, size_t *buffered);

/*
 * Reads the number from an answer with any HTTP status. answer is NULL when the reader refused a
 * streamed one. The error does not name the server.
 */
int metricsapi_number(const struct metricsapi_question *q, const struct webresponse *answer,
	struct metricsapi_reader *r, double *out, struct err *err);

extern const struct scaler_asker metricsapi_asker;

#endif
