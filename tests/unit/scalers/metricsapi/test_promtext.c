/* SPDX-License-Identifier: Apache-2.0 */
/* Metrics pages, selectors of series, and their regular expressions. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "scalers/metricsapi/promtext.h"

static const char page[] = "# HELP jobs_waiting Jobs that wait.\\n Really.\n"
			   "# TYPE jobs_waiting gauge\n"
			   "jobs_waiting{queue=\"mail\",host=\"a\"} 3\n"
			   "jobs_waiting{queue=\"print\", host=\"b\" , } 4.5 1700000000000\n"
			   "  jobs_waiting { queue = \"fax\" } 6\r\n"
			   "jobs_waiting{queue=\"q\\\"u\\\\o\\nte\"} 7\n"
			   "\n"
			   "# just a comment {\n"
			   "plain 1e3\n"
			   "negative -2\n"
			   "nan NaN\n"
			   "inf +Inf\n"
			   "hist_bucket{le=\"0.5\"} 8\n"
			   "hist_bucket{le=\"+Inf\"} 9\n"
			   "hist_sum 10\n"
			   "hist_count 11\n"
			   "summary{quantile=\"0.9\"} 12\n"
			   "total_total{a=\"b\"} 13 1700000000.123 # {trace_id=\"x y\"} 0.5 1700000000\n"
			   "total2_total 14 # {trace_id=\"x\"} 0.5\n"
			   "{\"dotted.name\",a=\"b\"} 15\n"
			   "{\"dotted.name\"} 16\n"
			   "a:rule:sum 17\n"
			   "utf{l=\"\xc3\xa4\"} 18\n"
			   "# EOF\n";

static const struct {
	const char *selector;
	double value;
	const char *message;
} on_page[] = {
	{ "jobs_waiting", 3, NULL },
	{ "jobs_waiting{}", 3, NULL },
	{ "jobs_waiting{queue=\"print\"}", 4.5, NULL },
	{ " jobs_waiting { queue = 'print' , host=`b`, } ", 4.5, NULL },
	{ "{__name__=\"jobs_waiting\",queue=\"fax\"}", 6, NULL },
	{ "jobs_waiting{queue=\"q\\\"u\\\\o\\nte\"}", 7, NULL },
	{ "jobs_waiting{queue!=\"mail\"}", 4.5, NULL },
	{ "jobs_waiting{queue=~\"f.x|p.*\"}", 4.5, NULL },
	{ "jobs_waiting{queue=~\"f\"}", 0, "value not found" },
	{ "jobs_waiting{queue!~\"m.*\",queue!~\"print\"}", 6, NULL },
	{ "jobs_waiting{host=\"\"}", 6, NULL },
	{ "jobs_waiting{host!=\"\",queue!=\"mail\"}", 4.5, NULL },
	{ "jobs_waiting{nope!=\"x\"}", 3, NULL },
	{ "jobs_waiting{queue=\"nope\"}", 0, "value not found: metric 'jobs_waiting' has no series with these labels" },
	{ "nope", 0, "metric 'nope' not found" },
	{ "plain", 1000, NULL },
	{ "negative", -2, NULL },
	{ "nan", 0, "metric 'nan' is NaN, which is not a usable number" },
	{ "inf", 0, "is +Inf" },
	{ "hist_bucket{le=\"+Inf\"}", 9, NULL },
	{ "hist_sum", 10, NULL },
	{ "hist_count", 11, NULL },
	{ "hist", 0, "metric 'hist' not found" },
	{ "summary{quantile=\"0.9\"}", 12, NULL },
	{ "total_total", 13, NULL },
	{ "total2_total", 14, NULL },
	{ "{\"dotted.name\"}", 15, NULL },
	{ "{\"dotted.name\",a!=\"b\"}", 16, NULL },
	{ "a:rule:sum", 17, NULL },
	{ "utf{l=~\".\"}", 18, NULL },
};

/* Delivers the page in pieces of this size. */
static int number(const struct promselector *s, const char *answer, size_t piece, double *out, struct err *err)
{
	struct promtext *t = promtext_new(s);
	size_t len = strlen(answer);
	int rc;

	for (size_t at = 0; at < len; at += piece)
		if (promtext_feed(t, answer + at, len - at < piece ? len - at : piece))
			break;
	rc = promtext_end(t, out, err);
	promtext_free(t);
	return rc;
}

static void look_by(size_t piece, const char *text, const char *answer, double value, const char *message)
{
	struct err err = { 0 };
	struct promselector *s = promselector_compile(text, &err);
	double found = -99;
	int rc = s ? number(s, answer, piece, &found, &err) : -1;

	promselector_free(s);
	if (message ? rc == 0 || err.kind != ERR_INVALID || !strstr(err.msg, message) : rc != 0 || found != value)
		fail_msg("%s by %zu: %g %s, not %g %s", text, piece, found, err.msg, value, message ? message : "");
}

static void look(const char *text, const char *answer, double value, const char *message)
{
	static const size_t pieces[] = { 1, 7, 16384, SIZE_MAX / 2 };

	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++)
		look_by(pieces[i], text, answer, value, message);
}

static void series_are_found(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(on_page) / sizeof(on_page[0]); i++)
		look(on_page[i].selector, page, on_page[i].value, on_page[i].message);
}

static void selectors_are_checked(void **state)
{
	static const struct {
		const char *selector, *message;
	} bad[] = {
		{ "", "position 1: expected a metric's name or {" },
		{ "5x", "position 1: expected a metric's name or {" },
		{ "{a=\"b\"}", "the metric's name is missing" },
		{ "x{a=\"b\"", "position 8: the { is not closed" },
		{ "x{a=b}", "position 5: expected a text in quotes" },
		{ "x{a>\"b\"}", "position 4: expected one of = != =~ !~" },
		{ "x{a=\"b}", "position 5: the quotes are not closed" },
		{ "x{a=\"\\d\"}", "in quotes a backslash must precede" },
		{ "x[5m]", "position 2: only an instant selector is supported" },
		{ "sum(x)", "position 4: only an instant selector" },
		{ "x offset 5m", "position 3: only an instant selector" },
		{ "x{__name__=\"y\"}", "the metric's name must be given once" },
		{ "{__name__=~\"y\"}", "__name__ can only be compared with =" },
		{ "a.b", "position 2: only an instant selector" },
		{ "x{a=~\"(?i)b\"}", "position 6: the regular expression: of (?...) only (?:...) is supported" },
		{ "x{a=~\"(b\"}", "a ( is not closed" },
		{ "x{a=~\"b)\"}", "a ) has no (" },
		{ "x{a=~\"[b\"}", "the [ is not closed" },
		{ "x{a=~\"*b\"}", "there is nothing to repeat" },
		{ "x{a=~\"b**\"}", "a repetition follows" },
		{ "x{a=~\"\\\\pL\"}", "a backslash may precede only" },
		{ "x{a=~\"[[:alpha:]]\"}", "is not supported" },
		{ "x{a=~\"(((x{99}){99}){99})\"}", "it is too large" },
		{ "x{a=~\"x{2,1}\"}", "in the wrong order" },
		{ "x{a=~\"x{1001}\"}", "are too large" },
		{ "x{a=~\"b++\"}", "a repetition follows" },
		{ "x{a=~\"b{2}+\"}", "a repetition follows" },
		{ "x{a=~\"b??{2}\"}", "a repetition follows" },
		{ "x{a=~\"b|*\"}", "there is nothing to repeat" },
		{ "x{a=~\"(+)\"}", "there is nothing to repeat" },
		{ "x{a=~\"{2}\"}", "there is nothing to repeat" },
		{ "x{a=~\"[z-a]\"}", "a range in [] is in the wrong order" },
		{ "x{a=~\"b\\\\\"}", "the last backslash must be followed by a character" },
		/* Syntax that PCRE2 accepts, but Prometheus refuses or interprets differently. */
		{ "x{a=~\"(b)\\\\1\"}", "back references are not supported" },
		{ "x{a=~\"(b)\\\\g{1}\"}", "back references are not supported" },
		{ "x{a=~\"b(?=c)\"}", "of (?...) only (?:...) is supported: no flags, names, look-around or callouts" },
		{ "x{a=~\"(?<!b)c\"}", "of (?...) only" },
		{ "x{a=~\"(?>b)\"}", "of (?...) only" },
		{ "x{a=~\"(?C1)b\"}", "of (?...) only" },
		{ "x{a=~\"b(?R)?\"}", "of (?...) only" },
		{ "x{a=~\"(*LIMIT_MATCH=1)b\"}", "(*...) is not supported" },
		{ "x{a=~\"b(*ACCEPT)c\"}", "(*...) is not supported" },
		{ "x{a=~\"\\\\K\"}", "a backslash may precede only" },
		{ "x{a=~\"\\\\Qb\"}", "a backslash may precede only" },
		{ "x{a=~\"\\\\h\"}", "a backslash may precede only" },
		{ "x{a=~\"\\\\Z\"}", "a backslash may precede only" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		look(bad[i].selector, page, 0, bad[i].message);
}

static void malformed_pages(void **state)
{
	static const struct {
		const char *page, *message;
	} bad[] = {
		{ "x 1\ny{a=\"b", "line 2: the quotes are not closed" },
		{ "x", "line 1: expected a value" },
		{ "x 1\ny{a=\"b\n", "line 2: the quotes are not closed" },
		{ "x 1\ny{a=b} 5\n", "line 2: a label's value must be in quotes" },
		{ "x 1\ny{a} 5\n", "line 2: expected = after a label" },
		{ "x 1\ny{a=\"b\"\n", "line 2: expected a comma or } after a label" },
		{ "x 1\ny{a=\"\\q\"} 1\n", "line 2: in quotes a backslash" },
		{ "x\n", "line 1: expected a value" },
		{ "x one\n", "line 1: expected a value" },
		{ "x 0x10\n", "line 1: expected a value" },
		{ "x 1 2 3\n", "line 1: there is something after the value and its time" },
		{ "x 1 now\n", "line 1: expected a time after the value" },
		{ "<html>\n", "line 1: expected a name" },
		{ "", "metric 'x' not found" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		look("x", bad[i].page, 0, bad[i].message);
	look("x", "x 1\n# EOF", 1, NULL);
	look("x", "y 1\nx 12", 12, NULL);
}

static void regular_expressions(void **state)
{
	static const struct {
		const char *regex, *yes, *no;
	} cases[] = {
		{ "", "", "a" },
		{ "abc", "abc", "ab" },
		{ "a|b|cd", "cd", "c" },
		{ "a|", "", "b" },
		{ "a*", "aaa", "ab" },
		{ "a+", "a", "" },
		{ "a?b", "b", "aab" },
		{ ".*", "any\nthing", NULL },
		{ "a.c",
			"a\xc3\xa4"
			"c",
			"ac" },
		{ "[a-c]+", "abc", "d" },
		{ "[^a-c]", "d", "a" },
		{ "[]a]+", "]a", "b" },
		{ "[a-]+", "a-", "b" },
		{ "[\\d.]+", "1.5", "a" },
		{ "\\d+", "123", "a" },
		{ "\\D+", "abc", "1" },
		{ "\\w+\\s\\w+", "a_1 b", "a" },
		{ "\\.", ".", "a" },
		{ "a{3}", "aaa", "aa" },
		{ "a{2,}", "aaaa", "a" },
		{ "a{1,3}", "aaa", "aaaa" },
		{ "a{0,2}", "", "aaa" },
		{ "a{0}b", "b", "ab" },
		{ "a{x", "a{x", "a" },
		{ "(ab)+", "abab", "aba" },
		{ "(?:ab|c)*d", "abcd", "abc" },
		{ "(a*)*b", "aaab", "aaa" },
		{ "^a$", "a", "aa" },
		{ "a*?b", "aab", "a" },
		{ "(a|b)*a(a|b){2}", "abbabb", "abbbbb" },
		{ "(x|)y", "y", "xxy" },
		{ "((a|b)|(c|d))+", "abcd", "e" },
		{ "[\\]]", "]", "\\" },
		{ "prod-(eu|us)-\\d{1,2}", "prod-eu-12", "prod-eu-123" },
		{ "a{,2}", "a{,2}", "aa" },
		{ "a{ 1}", "a{ 1}", "a" },
		{ "a$", "a", "a\n" },
		{ "\\v", "\v", "\n" },
		{ "\\s", "\f", "\v" },
		{ "\\S", "\v", "\f" },
		{ "[\\s]", "\r", "\v" },
		{ "[^\\S]", " ", "\v" },
		{ "[\\S]+", "a\xc3\xa4", " " },
		{ "[\\s-a]+", "-a ", "0" },
		{ "[[a]+", "[a", "]" },
		{ "[[.a.]+", ".[a", "]" },
		{ "\\d", "1", "\xd9\xa1" },
		{ "\\w", "a", "\xc3\xa4" },
		{ ".", "\xc3\xa4", "\xc3" },
		{ "(a|ab)(c|bcd)", "abcd", "abcdd" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(cases[0]); i++) {
		struct err err = { 0 };
		struct re2 *r = re2_compile(cases[i].regex, &err);
		size_t budget = 100000;

		if (!r)
			fail_msg("%s: %s", cases[i].regex, err.msg);
		if (!re2_matches(r, cases[i].yes, &budget))
			fail_msg("%s does not fit %s", cases[i].regex, cases[i].yes);
		if (cases[i].no && re2_matches(r, cases[i].no, &budget))
			fail_msg("%s fits %s", cases[i].regex, cases[i].no);
		re2_free(r);
	}
}

/* Expressions that take exponential time by backtracking, or exponential states. */
static void costs_are_bounded(void **state)
{
	static const char *const hostile[] = {
		"(.*a){12}(a|b){200}d",
		"(.*)*d",
		"((a|b|d)*b)*d",
		"(a|b|ab|d)*cd",
		"(?:(?:a?){30}){30}d*",
		"(a?){40}a{40}d",
		".*b.*b.*b.*b.*c",
		"((((a{1,20}){1,20}){1,5}){1,2})*d",
	};
	struct buf long_page = BUF_INIT(16 << 20);

	(void)state;
	for (int i = 0; i < 20000; i++)
		buf_printf(&long_page, "x{a=\"%s\"} 1\n",
			"abaabbabaaabbbabababbabaaabbbabababbabaaabbbabababcdaaaaabaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
			"aaaaaabaaaad.");
	for (size_t i = 0; i < sizeof(hostile) / sizeof(hostile[0]); i++) {
		MEM_AUTO char *selector = mem_printf("x{a=~\"%s\"}", hostile[i]);

		look(selector, long_page.data, 0, "too large for the regular expressions");
	}
	look("x{a=\"c\"}", long_page.data, 0, "value not found");
	look("x{a=~\"prod-(eu|us)-[0-9]{1,2}|staging|c.*\"}", long_page.data, 0, "value not found");
	buf_done(&long_page);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(series_are_found),
		cmocka_unit_test(selectors_are_checked),
		cmocka_unit_test(malformed_pages),
		cmocka_unit_test(regular_expressions),
		cmocka_unit_test(costs_are_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
