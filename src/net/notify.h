/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_NOTIFY_H
#define NET_NOTIFY_H

/*
 * Notifications to the service manager, by the protocol of sd_notify(3) ("these functions may be
 * implemented without libsystemd"): one datagram of assignments to the socket that $NOTIFY_SOCKET
 * names; without the variable nothing happens. libsystemd would cost a megabyte of memory.
 */

#include <stdint.h>

/* "READY=1\nSTATUS=3 ScaledObjects". Never blocks; a datagram that cannot be sent is dropped. */
void notify_send(const char *state);

/* RELOADING=1 with the timestamp that systemd requires; READY=1 must follow. */
void notify_reloading(void);

/*
 * The interval for WATCHDOG=1 in milliseconds: half of $WATCHDOG_USEC, if that is for this process.
 * 0: no watchdog.
 */
int64_t notify_watchdog_ms(void);

#endif
