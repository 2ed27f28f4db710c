/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_LOG_H
#define BASE_LOG_H

/*
 * The log: one line per event on standard error, as text or as JSON. Configured once by the daemon;
 * tests capture the lines with a sink. Control characters and bytes that are not UTF-8 are escaped,
 * so that no input can forge a line. Text: `2026-01-02T03:04:05.678Z info  scaledobject
 * default/web: scaled from 0 to 1`. JSON: {"ts":..,"level":..,"object":..,"msg":..}. Where standard
 * error is systemd's journal, each line begins with its priority, and text has no time and level.
 */

#include <stdbool.h>

#include "base/err.h"

enum log_level { LOG_LEVEL_DEBUG, LOG_LEVEL_INFO, LOG_LEVEL_WARN, LOG_LEVEL_ERROR };
enum log_format { LOG_FORMAT_TEXT, LOG_FORMAT_JSON };

/* the words of the options, indexed by enum; NULL-terminated */
extern const char *const log_level_names[], *const log_format_names[];

/* From its word. ERR_INVALID names the text. */
int log_level_parse(const char *text, enum log_level *out, struct err *err);
int log_format_parse(const char *text, enum log_format *out, struct err *err);
void log_setup(enum log_level least, enum log_format format);
typedef void (*log_sink_fn)(void *arg, enum log_level level, const char *line);
void log_set_sink(log_sink_fn sink, void *arg); /* for tests; NULL: standard error */
bool log_enabled(enum log_level level);         /* to avoid computing arguments that are not logged */

/* subject: the object of the line ("scaledobject default/web", "lease", ...); may be NULL. */
void log_line(enum log_level level, const char *subject, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

#define log_debug(subject, ...)                                                                                        \
	do {                                                                                                           \
		if (log_enabled(LOG_LEVEL_DEBUG))                                                                      \
			log_line(LOG_LEVEL_DEBUG, (subject), __VA_ARGS__);                                             \
	} while (0)
#define log_info(subject, ...)  log_line(LOG_LEVEL_INFO, (subject), __VA_ARGS__)
#define log_warn(subject, ...)  log_line(LOG_LEVEL_WARN, (subject), __VA_ARGS__)
#define log_error(subject, ...) log_line(LOG_LEVEL_ERROR, (subject), __VA_ARGS__)

#endif
