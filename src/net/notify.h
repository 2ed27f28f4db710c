/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_NOTIFY_H
#define NET_NOTIFY_H

/*
 * The service manager's notification socket, as sd_notify(3) describes the protocol ("these
 * functions may be implemented without libsystemd"): one datagram of assignments to the socket
 * named by $NOTIFY_SOCKET. libsystemd itself would cost a megabyte of memory for that. Without such
 * a socket nothing happens.
 */

#include <stdint.h>

/* "READY=1\nSTATUS=3 ScaledObjects". Never blocks; what does not get through is not said. */
void notify_send(const char *state);

/*
 * How often WATCHDOG=1 is due, in milliseconds: half of $WATCHDOG_USEC when it is meant for this
 * process; 0: never.
 */
int64_t notify_watchdog_ms(void);

#endif
