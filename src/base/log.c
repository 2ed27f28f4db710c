/* SPDX-License-Identifier: Apache-2.0 */
#include "base/log.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/mem.h"
#include "base/timestamp.h"

#define LINE_MAX_BYTES 16384

static struct {
	enum log_level least;
	enum log_format format;
	bool to_journal;
	log_sink_fn sink;
	void *sink_arg;
} setup = { .least = LOG_LEVEL_INFO, .format = LOG_FORMAT_TEXT };

const char *const log_level_names[] = { "debug", "info", "warn", "error", NULL };
const char *const log_format_names[] = { "text", "json", NULL };

int log_level_parse(const char *text, enum log_level *out, struct err *err)
{
	for (size_t i = 0; log_level_names[i]; i++) {
		if (strcmp(text, log_level_names[i]) == 0) {
			*out = (enum log_level)i;
			return 0;
		}
	}
	return err_set(err, ERR_INVALID, "\"%s\" is not a log level: debug, info, warn or error", text);
}

int log_format_parse(const char *text, enum log_format *out, struct err *err)
{
	for (size_t i = 0; log_format_names[i]; i++) {
		if (strcmp(text, log_format_names[i]) == 0) {
			*out = (enum log_format)i;
			return 0;
		}
	}
	return err_set(err, ERR_INVALID, "\"%s\" is not a log format: text or json", text);
}

/* systemd.exec(5): the variable survives a redirection, so the file that it names is compared. */
static bool goes_to_journal(void)
{
	const char *named = getenv("JOURNAL_STREAM");
	unsigned long long device, inode;
	struct stat st;

	return named && sscanf(named, "%llu:%llu", &device, &inode) == 2 && fstat(STDERR_FILENO, &st) == 0 &&
		device == st.st_dev && inode == st.st_ino;
}

void log_setup(enum log_level least, enum log_format format)
{
	setup.least = least;
	setup.format = format;
	setup.to_journal = goes_to_journal();
}

void log_set_sink(log_sink_fn sink, void *arg)
{
	setup.sink = sink;
	setup.sink_arg = arg;
}

bool log_enabled(enum log_level level)
{
	return level >= setup.least;
}

/* No input may start a line, move the cursor (also C1: U+0080 to U+009F), or be invalid UTF-8. */
static const char *escape(const char *text, size_t step, char room[BUF_ESCAPE_MAX])
{
	unsigned char c = (unsigned char)text[0];

	switch (c) {
	case '\n': return "\\n";
	case '\t': return "\\t";
	case '\r': return "\\r";
	}
	if (step == 2 && c == 0xC2 && (unsigned char)text[1] < 0xA0)
		snprintf(room, BUF_ESCAPE_MAX, "\\u00%02x", (unsigned char)text[1]);
	else if (step == 0 || c < 0x20 || c == 0x7F)
		snprintf(room, BUF_ESCAPE_MAX, "\\x%02x", c);
	else
		return NULL;
	return room;
}

/* sd-daemon(3): the journal takes this prefix as the line's priority. */
static void put_priority(struct buf *out, enum log_level level)
{
	static const char *const priorities[] = { "<7>", "<6>", "<4>", "<3>" };

	buf_puts(out, priorities[level]);
}

/* The journal has time and level of each line itself. */
static void put_text(struct buf *out, const char *ts, enum log_level level, const char *subject, const char *msg)
{
	if (!setup.to_journal)
		buf_printf(out, "%s %-5s ", ts, log_level_names[level]);
	if (subject != NULL) {
		buf_put_escaped(out, subject, escape);
		buf_puts(out, ": ");
	}
	buf_put_escaped(out, msg, escape);
}

static void put_json(struct buf *out, const char *ts, enum log_level level, const char *subject, const char *msg)
{
	buf_printf(out, "{\"ts\":\"%s\",\"level\":\"%s\"", ts, log_level_names[level]);
	if (subject != NULL) {
		buf_puts(out, ",\"object\":");
		buf_put_json(out, subject);
	}
	buf_puts(out, ",\"msg\":");
	buf_put_json(out, msg);
	buf_putc(out, '}');
}

/* One write per line, so that lines of several processes do not mix. Errors are ignored. */
static void emit(enum log_level level, struct buf *line)
{
	if (setup.sink != NULL) {
		setup.sink(setup.sink_arg, level, buf_text(line));
		return;
	}
	buf_putc(line, '\n');
	if (write(STDERR_FILENO, line->data, line->len) < 0)
		return;
}

void log_line(enum log_level level, const char *subject, const char *fmt, ...)
{
	if (!log_enabled(level))
		return;

	char ts[TIMESTAMP_TEXT_MAX];
	struct buf msg = BUF_INIT(LINE_MAX_BYTES);
	/* Escaping makes at most six bytes of one; the rest is for the subject. */
	struct buf line = BUF_INIT((size_t)16 * LINE_MAX_BYTES);
	va_list ap;

	va_start(ap, fmt);
	buf_vprintf(&msg, fmt, ap);
	va_end(ap);
	if (buf_failed(&msg)) {
		buf_reset(&msg);
		buf_puts(&msg, "(a message too long for the log)");
	}
	timestamp_format_milli(timestamp_now_ms(), ts);
	if (setup.to_journal)
		put_priority(&line, level);
	if (setup.format == LOG_FORMAT_JSON)
		put_json(&line, ts, level, subject, buf_text(&msg));
	else
		put_text(&line, ts, level, subject, buf_text(&msg));
	emit(level, &line);
	buf_done(&msg);
	buf_done(&line);
}
