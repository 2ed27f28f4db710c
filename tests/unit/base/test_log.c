/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>
#include <jansson.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/timestamp.h"

#define TS_LEN (sizeof("2026-01-02T03:04:05.678Z") - 1)

/* The last line, and how many there were. */
static char *last;
static int count;

static void on_line(void *arg, enum log_level level, const char *line)
{
	(void)level;
	assert_ptr_equal(arg, &last);
	free(last);
	last = mem_dup(line);
	count++;
}

static int start(void **state)
{
	(void)state;
	count = 0;
	log_set_sink(on_line, &last);
	log_setup(LOG_LEVEL_DEBUG, LOG_FORMAT_TEXT);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	log_set_sink(NULL, NULL);
	log_setup(LOG_LEVEL_INFO, LOG_FORMAT_TEXT);
	free(last);
	last = NULL;
	return 0;
}

static void text_lines(void **state)
{
	int64_t ms;

	(void)state;
	log_info("scaledobject default/web", "scaled from %d to %d", 0, 1);
	assert_string_equal(last + TS_LEN, " info  scaledobject default/web: scaled from 0 to 1");
	char ts[TS_LEN + 1];
	memcpy(ts, last, TS_LEN);
	ts[TS_LEN] = '\0';
	assert_int_equal(timestamp_parse(ts, &ms, NULL), 0);
	log_warn(NULL, "no subject");
	assert_string_equal(last + TS_LEN, " warn  no subject");
	log_error("lease", "lost");
	assert_string_equal(last + TS_LEN, " error lease: lost");
	log_debug("x", "y");
	assert_string_equal(last + TS_LEN, " debug x: y");
}

static void levels(void **state)
{
	(void)state;
	log_setup(LOG_LEVEL_WARN, LOG_FORMAT_TEXT);
	log_debug("x", "no");
	log_info("x", "no");
	assert_int_equal(count, 0);
	log_warn("x", "yes");
	log_error("x", "yes");
	assert_int_equal(count, 2);
	assert_false(log_enabled(LOG_LEVEL_INFO));
	assert_true(log_enabled(LOG_LEVEL_WARN));
}

static void nothing_forges_a_line(void **state)
{
	static const struct {
		const char *text, *shown;
	} rows[] = {
		{ "a\nb", "a\\nb" },
		{ "a\r\n2026-01-02T03:04:05.678Z info  forged", "a\\r\\n2026-01-02T03:04:05.678Z info  forged" },
		{ "tab\there", "tab\\there" },
		{ "\x1b[31mred", "\\x1b[31mred" },
		{ "\x07\x7f", "\\x07\\x7f" },
		{ "bad \xFF\xC0\xAF", "bad \\xff\\xc0\\xaf" },
		{ "C1 \xC2\x9B"
		  "31m next \xC2\x85",
			"C1 \\u009b31m next \\u0085" },
		{ "fine \xC3\xA9 \xE2\x82\xAC \xC2\xA0", "fine \xC3\xA9 \xE2\x82\xAC \xC2\xA0" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		char expected[256];
		snprintf(expected, sizeof(expected), " info  %s: %s", rows[i].shown, rows[i].shown);
		log_info(rows[i].text, "%s", rows[i].text);
		assert_string_equal(last + TS_LEN, expected);
	}
}

static void json_lines(void **state)
{
	(void)state;
	log_setup(LOG_LEVEL_DEBUG, LOG_FORMAT_JSON);
	log_error("scaledobject a/b", "said \"no\"\n\xFF");
	json_t *line = json_loads(last, 0, NULL);
	assert_non_null(line);
	assert_string_equal(json_string_value(json_object_get(line, "level")), "error");
	assert_string_equal(json_string_value(json_object_get(line, "object")), "scaledobject a/b");
	assert_string_equal(json_string_value(json_object_get(line, "msg")), "said \"no\"\n\xEF\xBF\xBD");
	int64_t ms;
	assert_int_equal(timestamp_parse(json_string_value(json_object_get(line, "ts")), &ms, NULL), 0);
	assert_null(strchr(last, '\n'));
	json_decref(line);
	log_info(NULL, "x");
	line = json_loads(last, 0, NULL);
	assert_non_null(line);
	assert_null(json_object_get(line, "object"));
	json_decref(line);
}

static void messages_of_any_length(void **state)
{
	(void)state;
	for (size_t len = 16000; len < 17000; len += 7) {
		char *text = mem_alloc(len + 1);
		memset(text, '\n', len);
		text[len] = '\0';
		log_info("x", "%s", text);
		assert_true(strlen(last) > TS_LEN + 20);
		free(text);
	}
}

static void names(void **state)
{
	enum log_level level = LOG_LEVEL_DEBUG;
	enum log_format format = LOG_FORMAT_TEXT;
	struct err err;

	(void)state;
	assert_int_equal(log_level_parse("error", &level, &err), 0);
	assert_int_equal(level, LOG_LEVEL_ERROR);
	assert_int_equal(log_level_parse("warn", &level, &err), 0);
	assert_int_equal(level, LOG_LEVEL_WARN);
	assert_int_equal(log_level_parse("Info", &level, &err), -1);
	assert_string_equal(err.msg, "\"Info\" is not a log level: debug, info, warn or error");
	assert_int_equal(log_level_parse("", &level, &err), -1);
	assert_int_equal(level, LOG_LEVEL_WARN);
	assert_int_equal(log_format_parse("json", &format, &err), 0);
	assert_int_equal(format, LOG_FORMAT_JSON);
	assert_int_equal(log_format_parse("xml", &format, &err), -1);
	assert_string_equal(err.msg, "\"xml\" is not a log format: text or json");
}

/* What standard error gets; journal: it is named as systemd's, beside: another file. */
static void write_line(enum log_format format, bool journal, int beside, char *line, size_t size)
{
	int ends[2], kept = dup(STDERR_FILENO);
	struct stat st;
	char named[64];
	ssize_t got;

	assert_true(kept >= 0);
	assert_int_equal(pipe(ends), 0);
	assert_int_equal(fstat(ends[1], &st), 0);
	snprintf(named, sizeof(named), "%llu:%llu", (unsigned long long)st.st_dev,
		(unsigned long long)st.st_ino + (unsigned)beside);
	if (journal)
		setenv("JOURNAL_STREAM", named, 1);
	dup2(ends[1], STDERR_FILENO);
	log_setup(LOG_LEVEL_INFO, format);
	log_warn("lease", "lost");
	dup2(kept, STDERR_FILENO);
	unsetenv("JOURNAL_STREAM");
	close(kept);
	close(ends[1]);
	got = read(ends[0], line, size - 1);
	close(ends[0]);
	assert_true(got > 0);
	line[got] = '\0';
}

/* One whole line. */
static void standard_error(void **state)
{
	char line[256];

	(void)state;
	log_set_sink(NULL, NULL);
	write_line(LOG_FORMAT_TEXT, false, 0, line, sizeof(line));
	assert_string_equal(line + TS_LEN, " warn  lease: lost\n");
	write_line(LOG_FORMAT_TEXT, true, 1, line, sizeof(line)); /* redirected since */
	assert_string_equal(line + TS_LEN, " warn  lease: lost\n");
}

static void the_journal(void **state)
{
	static const char json[] = "<4>{\"ts\":\"";
	char line[256];

	(void)state;
	log_set_sink(NULL, NULL);
	write_line(LOG_FORMAT_TEXT, true, 0, line, sizeof(line));
	assert_string_equal(line, "<4>lease: lost\n");
	write_line(LOG_FORMAT_JSON, true, 0, line, sizeof(line));
	assert_memory_equal(line, json, sizeof(json) - 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(text_lines, start, stop),
		cmocka_unit_test_setup_teardown(levels, start, stop),
		cmocka_unit_test_setup_teardown(nothing_forges_a_line, start, stop),
		cmocka_unit_test_setup_teardown(json_lines, start, stop),
		cmocka_unit_test_setup_teardown(messages_of_any_length, start, stop),
		cmocka_unit_test(names),
		cmocka_unit_test_setup_teardown(standard_error, start, stop),
		cmocka_unit_test_setup_teardown(the_journal, start, stop),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
