/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HOST_SYSTEMD_H
#define CLI_HOST_SYSTEMD_H

/* Starts and stops the service of this host by systemctl(1). Blocks. */

#include <stdbool.h>

#include "base/err.h"

#define SYSTEMD_UNIT "kscaled.service"

bool systemd_is_running(void); /* sd_booted(3) */

/*
 * `systemctl VERB kscaled.service`. ERR_TEMPORARY: it failed and has printed why on standard error.
 * ERR_MISSING, of start and stop: no such unit, also printed.
 */
int systemd_control(const char *verb, struct err *err);

/*
 * The last lines of the service's log, by journalctl(1), without the last newline. NULL: none, or
 * unreadable. The caller owns it.
 */
char *systemd_last_words(void);

#endif
