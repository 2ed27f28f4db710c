/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_HOST_SYSTEMD_H
#define CLI_HOST_SYSTEMD_H

/* Starts and stops the service of this host by systemctl(1), where systemd runs. Blocks. */

#include <stdbool.h>

#include "base/err.h"

#define SYSTEMD_UNIT "kscaled.service"

bool systemd_is_running(void); /* sd_booted(3) */

/*
 * arguments: of systemctl, NULL-terminated. ERR_TEMPORARY: it failed, and has said why on standard
 * error. ERR_MISSING, of start and stop: there is no such unit, which it has said as well.
 */
int systemd_control(const char *const *arguments, struct err *err);

/*
 * What the service said last, by journalctl(1): some lines, without the last newline. NULL:
 * nothing, or it may not be read. The caller owns it.
 */
char *systemd_last_words(void);

#endif
