/* SPDX-License-Identifier: Apache-2.0 */

/*
 * A config file, and its lines as flags of the command line: options that lie in their bounds, or
 * an error that says where. Whoever writes them owns the process, so this is about clear errors.
 */

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

static void check_flags(char *lines)
{
	char *argv[FLAGS_MAX + 1] = { NULL };
	char *line;
	int argc = 0;

	while (argc < FLAGS_MAX && (line = strsep(&lines, "\n")))
		argv[argc++] = line;
	check(argc, argv);
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
