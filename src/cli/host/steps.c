/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/host/steps.h"

#include <stdarg.h>
#include <stdio.h>
#include <time.h>

#define LOOK_MS 500

void steps_report(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	vprintf(fmt, ap);
	va_end(ap);
	putchar('\n');
	fflush(stdout);
}

const struct option steps_options[] = {
#define AT(member) .offset = offsetof(struct steps_arguments, member)
	{ "kubeconfig", OPTION_TEXT, AT(kubeconfig), "FILE", "the administrator's, such as /etc/rancher/k3s/k3s.yaml" },
	{ "dry-run", OPTION_SWITCH, AT(dry_run), NULL, "print what would be done, change nothing" },
	{ "config-dir", OPTION_ABSOLUTE, AT(files.config_dir), "DIR", "the directory of kubeconfig and join.env",
		.initial = HOSTFILES_CONFIG },
	{ "state-dir", OPTION_ABSOLUTE, AT(files.state_dir), "DIR", "the directory of the token",
		.initial = HOSTFILES_STATE },
	{ .name = NULL },
#undef AT
};

int64_t steps_now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000 + t.tv_nsec / 1000000;
}

void steps_nap(void)
{
	struct timespec t = { .tv_nsec = LOOK_MS * 1000000L };

	nanosleep(&t, NULL);
}
