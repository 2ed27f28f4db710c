/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Answers of Azure Service Bus, as an entity, a page of a list or an error, and connection strings:
 * whatever comes, it is a whole number, another page, or an error on one line.
 */

#include <string.h>

#include "base/mem.h"
#include "fuzz.h"
#include "scalers/azure/busconnection.h"
#include "scalers/azure/servicebusatom.h"
#include "scalers/http/httpsource.h"
#include "scalers/scaler.h"
#include "scalers/scalerbuild.h"

#define CONNECTION "Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=scaler;SharedAccessKey=key"

static const char *const triggers[][4] = {
	{ "queueName", "orders" },
	{ "topicName", "shipped", "subscriptionName", "mail" },
	{ "queueName", "(orders|o.*)-?[a-z]*", "useRegex", "true" },
};
#define TRIGGERS MEM_COUNT(triggers)

static struct question *questions[TRIGGERS];

static void build(void)
{
	for (size_t i = 0; i < TRIGGERS; i++) {
		struct strmap metadata = { 0 }, auth = { 0 };
		struct scaler_params params = { .type = "azure-servicebus", .metadata = &metadata, .auth = &auth };
		struct scaler s;

		strmap_set(&auth, "connection", CONNECTION);
		for (size_t n = 0; n < 4 && triggers[i][n]; n += 2)
			strmap_set(&metadata, triggers[i][n], triggers[i][n + 1]);
		must(scaler_build(&params, &s, NULL) == 0);
		questions[i] = question_ref(s.question);
		scaler_done(&s);
		strmap_done(&metadata);
		strmap_done(&auth);
	}
}

static void check_error(const struct err *err)
{
	must(err->kind != ERR_NONE && err->kind != ERR_BUG);
	must(*err->msg && strpbrk(err->msg, "\r\n\t") == NULL);
}

static void check_answer(struct question *q, int status, const char *body, size_t len)
{
	const struct webresponse answer = { .status = status, .body = body, .len = len, .content_type = "" };
	struct httpsource ask = { .base = { .question = q },
		.data = q->data,
		.state = mem_zalloc(q->type->http->state_size) };
	struct answer out = { .value = -1 };
	struct err err = { 0 };

	switch (q->type->http->read(&ask, &answer, &out, &err)) {
	case EXCHANGE_FAILED: check_error(&err); break;
	case EXCHANGE_DONE: must(status == 200 && out.value >= 0 && out.value < 1e16); break;
	case EXCHANGE_NEXT: must(status == 200); break;
	default: must(false);
	}
	free(ask.state);
}

static void check_connection(const char *text)
{
	struct busconnection c;
	struct err err = { 0 };

	if (busconnection_parse(text, &c, &err)) {
		check_error(&err);
		must(strstr(err.msg, "sig=") == NULL); /* of a signature */
	} else {
		must(*c.host && strpbrk(c.host, "/?#@ ") == NULL && (c.signature || (c.key && c.key_name)));
	}
	busconnection_done(&c);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *text = mem_dupn((const char *)data, size), *detail;

	if (!questions[0])
		build();
	for (size_t i = 0; i < TRIGGERS; i++) {
		check_answer(questions[i], 200, text, size);
		check_answer(questions[i], 401, text, size);
	}
	detail = servicebusatom_detail(text, size);
	must(!detail || strpbrk(detail, "\r\n\t") == NULL);
	free(detail);
	check_connection(text);
	free(text);
	return 0;
}
