/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_METRICSAPI_METRICSAPI_PARTS_H
#define SCALERS_METRICSAPI_METRICSAPI_PARTS_H

/*
 * What the three files of metrics-api share: metricsapi.c builds a question, metricsapi_ask.c puts
 * it to servers, metricsapi_read.c finds the number in what they answer.
 */

#include <stdbool.h>
#include <stdint.h>

#include "net/web/webget.h"
#include "scalers/httpauth.h"
#include "scalers/metricsapi/dotpath.h"
#include "scalers/metricsapi/jsonpath.h"
#include "scalers/metricsapi/promselector.h"
#include "scalers/metricsapi/promtext.h"
#include "scalers/metricsapi/serviceurls.h"
#include "scalers/metricsapi/xmlvalue.h"
#include "scalers/scaler.h"

#define METRICSAPI_LOCATION_SHOWN 120 /* of valueLocation, in messages */

enum metricsapi_format { METRICSAPI_JSON, METRICSAPI_XML, METRICSAPI_YAML, METRICSAPI_PROMETHEUS };
enum metricsapi_aggregation { METRICSAPI_AVERAGE, METRICSAPI_SUM, METRICSAPI_MAX, METRICSAPI_MIN };

struct metricsapi_question {
	struct httpauth auth; /* of the URL; owned */
	enum metricsapi_format format;
	char *location;        /* owned: valueLocation, for messages */
	struct jsonpath *json; /* owned; one of these three, by format */
	struct dotpath path;
	struct promselector *selector;
	bool aggregates; /* then: */
	enum metricsapi_aggregation aggregation;
	struct serviceurls service;
};

/*
 * At most so much of an answer is read. Metric pages and XML are parsed as they arrive; JSON and
 * YAML become trees, which blocks the loop for some milliseconds.
 */
#define METRICSAPI_STREAM_MAX ((size_t)8 << 20)
#define METRICSAPI_TREE_MAX   ((size_t)1 << 20)

/* Parses a metric page or XML while it arrives. */
struct metricsapi_reader {
	struct promtext *page; /* owned; one of these, by format */
	struct xmlvalue *xml;
	bool refused; /* it is none */
	bool line_is_open;
};
bool metricsapi_reads_pieces(const struct metricsapi_question *q);
void metricsapi_reader_init(struct metricsapi_reader *r, const struct metricsapi_question *q);
void metricsapi_reader_done(struct metricsapi_reader *r);
/* false: no more; *kept: how many of the bytes so far it keeps */
bool metricsapi_feed(struct metricsapi_reader *r, const char *bytes, size_t len, size_t *kept);

/*
 * The number in an answer with any status; of one that was read in pieces answer is NULL when the
 * reader refused it. The error does not say which server it was.
 */
int metricsapi_number(const struct metricsapi_question *q, const struct webget_answer *answer,
	struct metricsapi_reader *r, double *out, struct err *err);

void *metricsapi_ask(struct scaler_sources *sources, struct question *question, int64_t deadline_ms, question_fn fn,
	void *arg);
void metricsapi_cancel(void *handle);

#endif
