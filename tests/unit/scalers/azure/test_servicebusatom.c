/* SPDX-License-Identifier: Apache-2.0 */
/* Responses of Service Bus' management API: genuine and hostile ones. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "scalers/azure/servicebusatom.h"

#define HEAD    "<?xml version=\"1.0\" encoding=\"utf-8\"?>"
#define CONNECT "http://schemas.microsoft.com/netservices/2010/10/servicebus/connect"
#define COUNTS  "http://schemas.microsoft.com/netservices/2011/06/servicebus"
#define ACTIVE(n)                                                                                                      \
	"<CountDetails xmlns:d2p1=\"" COUNTS "\"><d2p1:ActiveMessageCount>" n                                          \
	"</d2p1:ActiveMessageCount><d2p1:DeadLetterMessageCount>9</d2p1:DeadLetterMessageCount>"                       \
	"<d2p1:ScheduledMessageCount>8</d2p1:ScheduledMessageCount></CountDetails>"
#define ENTRY(title, what, inner)                                                                                      \
	"<entry xmlns=\"http://www.w3.org/2005/Atom\"><id>https://shop/" title "</id><title type=\"text\">" title      \
	"</title><author><name>shop</name></author><content type=\"application/xml\"><" what " xmlns=\"" CONNECT       \
	"\" xmlns:i=\"http://www.w3.org/2001/XMLSchema-instance\"><MessageCount>17</MessageCount>" inner "</" what     \
	"></content></entry>"
#define FEED(title, inner)                                                                                             \
	"<feed xmlns=\"http://www.w3.org/2005/Atom\"><title type=\"text\">" title "</title><id>x</id>" inner "</feed>"

/* Records the entries as text. */
static int tell(void *arg, const struct servicebusatom_entry *e, struct err *err)
{
	static const char *const kinds[] = { "other", "queue", "topic", "subscription" };

	(void)err;
	buf_printf(arg, "%s %s %s %lld;", kinds[e->kind], e->title, e->status, (long long)e->active);
	return 0;
}

static void entries_are_read(void **state)
{
	static const struct {
		const char *body, *told;
		bool is_feed, is_nothing;
	} rows[] = {
		{ HEAD ENTRY("orders", "QueueDescription", "<Status>Active</Status>" ACTIVE("3")),
			"queue orders Active 3;", false, false },
		{ ENTRY("new", "SubscriptionDescription", "<Status>\n Disabled </Status>" ACTIVE(" 0 ")),
			"subscription new Disabled 0;", false, false },
		{ ENTRY("shipped", "TopicDescription", ACTIVE("0")), "topic shipped  0;", false, false },
		{ ENTRY("orders", "EventHubDescription", "<Status>Active</Status>"), "other orders Active -1;", false,
			false },
		{ HEAD FEED("Queues",
			  "<link rel=\"self\" href=\"x\"/>" ENTRY("a", "QueueDescription", ACTIVE("1"))
				  ENTRY("b/c", "QueueDescription", "") ENTRY("", "QueueDescription", ACTIVE("2"))),
			"queue a  1;queue b/c  -1;queue   2;", true, false },
		{ FEED("Queues", ""), "", true, false },
		{ FEED("Publicly Listed Services", "<generator>Service Bus 1.1</generator>"), "", true, true },
		/* Any prefixes. */
		{ "<a:entry xmlns:a=\"http://www.w3.org/2005/Atom\"><a:title>orders</a:title><a:content>"
		  "<s:QueueDescription xmlns:s=\"" CONNECT "\"><s:CountDetails><ActiveMessageCount>4"
		  "</ActiveMessageCount></s:CountDetails></s:QueueDescription></a:content></a:entry>",
			"queue orders  4;", false, false },
		/* The first of several counts; elsewhere the names have other meanings. */
		{ ENTRY("a", "QueueDescription",
			  "<ActiveMessageCount>9</ActiveMessageCount><Other><ActiveMessageCount>9</ActiveMessageCount>"
			  "<Status>Disabled</Status></Other>" ACTIVE("1") ACTIVE("2")),
			"queue a  1;", false, false },
		{ "<entry><source><title>x</title></source><content><x/></content>"
		  "<title>a<b>c</b></title></entry>",
			"other a  -1;", false, false },
		{ "<entry><title>a&#10;b\n</title></entry>", "other a b  -1;", false, false },
		/* No valid count. */
		{ ENTRY("a", "QueueDescription", ACTIVE("")), "queue a  -1;", false, false },
		{ ENTRY("a", "QueueDescription", ACTIVE("-1")), "queue a  -1;", false, false },
		{ ENTRY("a", "QueueDescription", ACTIVE("1e3")), "queue a  -1;", false, false },
		{ ENTRY("a", "QueueDescription", ACTIVE("1 2")), "queue a  -1;", false, false },
		{ ENTRY("a", "QueueDescription", ACTIVE("1234567890123")), "queue a  -1;", false, false },
		{ ENTRY("a", "QueueDescription", ACTIVE("123456789012")), "queue a  123456789012;", false, false },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct buf out = BUF_INIT(1000);
		struct servicebusatom doc;
		struct err err = { 0 };

		if (servicebusatom_read(rows[i].body, strlen(rows[i].body), tell, &out, &doc, &err))
			fail_msg("%s: %s", rows[i].body, err.msg);
		assert_string_equal(buf_text(&out), rows[i].told);
		assert_int_equal(doc.is_feed, rows[i].is_feed);
		assert_int_equal(doc.is_nothing, rows[i].is_nothing);
		buf_done(&out);
	}
}

#define NEST8(x)  "<x><x><x><x><x><x><x><x>" x
#define NEST64(x) NEST8(NEST8(NEST8(NEST8(NEST8(NEST8(NEST8(NEST8(x))))))))

static void refused(void **state)
{
	static const struct {
		const char *body, *message;
	} rows[] = {
		{ "", "the answer is not XML: line 1 column 1: no element found" },
		{ "{\"messages\": 3}", "the answer is not XML: line 1 column 1: not well-formed (invalid token)" },
		{ "<feed><title>Queues</title>", "the answer is not XML: line 1 column 28: no element found" },
		{ "<html><title>Sign in</title></html>", "the answer is XML, but not an Atom entry or feed" },
		{ "<Error><Code>404</Code></Error>", "the answer is an error with HTTP status 200" },
		{ "<!DOCTYPE entry [<!ENTITY a \"b\">]><entry>&a;</entry>",
			"the answer has a document type (<!DOCTYPE ...>), which is refused" },
		{ "<entry>" NEST64(""), "the answer is nested too deep: at most 64 levels" },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		struct servicebusatom doc;
		struct err err = { 0 };

		assert_int_equal(servicebusatom_read(rows[i].body, strlen(rows[i].body), NULL, NULL, &doc, &err), -1);
		assert_string_equal(err.msg, rows[i].message);
		assert_int_equal(err.kind, ERR_INVALID);
	}
}

static int end_here(void *arg, const struct servicebusatom_entry *e, struct err *err)
{
	++*(int *)arg;
	return err_set(err, ERR_MISSING, "%s", e->title);
}

static void fn_stops_reading(void **state)
{
	static const char body[] = FEED("Queues",
		ENTRY("a", "QueueDescription", "") ENTRY("b", "QueueDescription", ""));
	struct servicebusatom doc;
	struct err err = { 0 };
	int calls = 0;

	(void)state;
	assert_int_equal(servicebusatom_read(body, strlen(body), end_here, &calls, &doc, &err), -1);
	assert_int_equal(calls, 1);
	assert_int_equal(err.kind, ERR_MISSING);
	assert_string_equal(err.msg, "a");
}

/* The largest response, 4 MiB of elements, is stopped long before it takes a turn of the loop. */
static void largest_response(void **state)
{
	struct buf body = BUF_INIT((size_t)8 << 20);
	struct servicebusatom doc;
	struct err err = { 0 };
	clock_t before;

	(void)state;
	buf_puts(&body, "<feed><entry><title>");
	for (int i = 0; i < 1025; i++)
		buf_putc(&body, 'x');
	buf_puts(&body, "</title></entry></feed>");
	assert_int_equal(servicebusatom_read(buf_text(&body), body.len, NULL, NULL, &doc, &err), -1);
	assert_string_equal(err.msg, "a name, a status or a number of the answer is too long");
	buf_reset(&body);
	buf_puts(&body, "<feed>");
	while (body.len < (size_t)4 << 20)
		buf_puts(&body, "<entry/>");
	buf_puts(&body, "</feed>");
	before = clock();
	assert_int_equal(servicebusatom_read(buf_text(&body), body.len, NULL, NULL, &doc, &err), -1);
	assert_string_equal(err.msg, "the answer has too many elements and attributes");
	print_message("32,768 elements took %ld us\n", (long)((clock() - before) * 1000000 / CLOCKS_PER_SEC));
	buf_done(&body);
}

static void details(void **state)
{
	static const char missing[] = "<Error><Code>404</Code><Detail>No service is hosted at the\nspecified address.  "
				      "TrackingId:1, Timestamp:2026</Detail></Error>";
	char *detail = servicebusatom_detail(missing, strlen(missing));

	(void)state;
	assert_string_equal(detail, "No service is hosted at the specified address.  TrackingId:1, Timestamp:2026");
	free(detail);
	assert_null(servicebusatom_detail("<Error><Code>1</Code></Error>", 29));
	assert_null(servicebusatom_detail("<Error><Detail>x", 16));
	assert_null(servicebusatom_detail("<entry><Detail>x</Detail></entry>", 33));
	assert_null(servicebusatom_detail("nonsense", 8));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(entries_are_read),
		cmocka_unit_test(refused),
		cmocka_unit_test(fn_stops_reading),
		cmocka_unit_test(largest_response),
		cmocka_unit_test(details),
	};

	return cmocka_run_group_tests_name("scalers/azure/servicebusatom", tests, NULL, NULL);
}
