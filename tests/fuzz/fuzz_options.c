/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A config file, and its lines as flags of the command line and as arguments of a command: options
 * within their bounds, or an error that names the place. Whoever writes them owns the process, so
 * what counts is that errors are clear.
 */

#include <stddef.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/mem.h"
#include "fuzz.h"
#include "options/options.h"

#define FLAGS_MAX 16

static void check(int argc, char **argv)
{
	struct options o = { 0 };
	struct err err = { 0 };

	if (options_load(argc, argv, &o, &err)) {
		must(err.kind != ERR_NONE && err.kind != ERR_BUG && err.msg[0] != '\0' && !o.lease_name);
	} else if (!o.show_help && !o.show_version) {
		must(o.lease_duration_ms > o.renew_deadline_ms && o.renew_deadline_ms > o.retry_period_ms);
		must(o.retry_period_ms > 0 && o.wake_interval_ms > 0 && o.metrics_max_age_ms >= 0);
		must(!o.tls_cert_file == !o.tls_private_key_file);
		must(o.lease_name && o.service_name);
	}
	options_done(&o);
}

static void check_file(const uint8_t *data, size_t size)
{
	int fd = memfd_create("config", MFD_CLOEXEC);
	char flag[] = "--config", path[64];
	char *argv[] = { flag, path, NULL };

	must(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	check(2, argv);
	close(fd);
}

/* An option of each kind, names that begin alike, letters. */
struct arguments {
	const char *texts[9];
	bool bools[3];
	uint16_t port;
	int64_t numbers[3];
	enum log_level level;
	enum log_format format;
};

static const char *const words[] = { "json", "wide", NULL };

static const struct option some[] = {
#define AT(member) .offset = offsetof(struct arguments, member)
	{ "text", OPTION_TEXT, AT(texts[0]), "TEXT", "", .letter = 't' },
	{ "word", OPTION_WORD, AT(texts[1]), "WORD", "", .letter = 'o', .words = words },
	{ "path", OPTION_ABSOLUTE, AT(texts[8]), "PATH", "" },
	{ "address", OPTION_ADDRESS, AT(texts[2]), "ADDRESS", "" },
	{ "host-port", OPTION_HOST_PORT, AT(texts[3]), "HOST:PORT", "" },
	{ "label", OPTION_LABEL, AT(texts[4]), "NS", "", .letter = 'n' },
	{ "label-or-none", OPTION_OPTIONAL_LABEL, AT(texts[5]), "NS", "" },
	{ "subdomain", OPTION_SUBDOMAIN, AT(texts[6]), "NAME", "" },
	{ "labels", OPTION_LABELS, AT(texts[7]), "NS[,NS]", "" },
	{ "switch", OPTION_SWITCH, AT(bools[0]), NULL, "", .letter = 's' },
	{ "switch-too", OPTION_SWITCH, AT(bools[1]), NULL, "", .letter = 'S' },
	{ "bool", OPTION_BOOL, AT(bools[2]), "BOOL", "" },
	{ "port", OPTION_PORT, AT(port), "PORT", "", .least = 1 },
	{ "count", OPTION_COUNT, AT(numbers[0]), "COUNT", "", .least = 2, .most = 16 },
	{ "duration", OPTION_DURATION, AT(numbers[1]), "DURATION", "", .most = 3600000 },
	{ "milliseconds", OPTION_MILLISECONDS, AT(numbers[2]), "DURATION", "", .least = 1, .most = 60000 },
	{ "level", OPTION_LEVEL, AT(level), "LEVEL", "" },
	{ "format", OPTION_FORMAT, AT(format), "FORMAT", "" },
	{ .name = NULL },
#undef AT
};

static const struct commandline command = {
	.name = "fuzz",
	.usage = "",
	.tables = { { .options = some } },
	.removed = "old was removed: there is none",
	.operands = true,
};

static void check_arguments(int argc, char **argv)
{
	struct commandline_given given;
	struct arguments a = { .numbers = { 2, 0, 1 }, .port = 1 };
	struct err err = { 0 };
	struct option o;

	if (commandline_parse(&command, argc, argv, &given, &err)) {
		must(err.kind == ERR_INVALID && err.msg[0] != '\0');
		return;
	}
	must(given.operands >= 0 && given.operands <= argc && (!given.end || strcmp(given.end, "help") == 0));
	for (size_t i = 0; commandline_option(&command, i, &o); i++)
		if (given.value[i] && commandline_set(&o, given.value[i], &a, &err))
			must(err.kind == ERR_INVALID && err.msg[0] != '\0');
	must(a.port > 0 && a.numbers[0] >= 2 && a.numbers[0] <= 16 && a.numbers[1] >= 0 && a.numbers[1] <= 3600000);
	must(a.numbers[2] >= 1 && a.numbers[2] <= 60000);
	must(!a.texts[1] || strcmp(a.texts[1], "json") == 0 || strcmp(a.texts[1], "wide") == 0);
}

static void check_flags(char *lines)
{
	char *argv[FLAGS_MAX + 1] = { NULL };
	char *line;
	int argc = 0;

	while (argc < FLAGS_MAX && (line = strsep(&lines, "\n")))
		argv[argc++] = line;
	check(argc, argv);
	check_arguments(argc, argv); /* moves them */
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	MEM_AUTO char *text = mem_dupn((const char *)data, size);

	check_file(data, size);
	/* Nothing of the fuzzer's is opened as a file. */
	if (!strstr(text, "config"))
		check_flags(text);
	return 0;
}
