/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_CRON_CRON_H
#define SCALERS_CRON_CRON_H

/*
 * Trigger type `cron` (doc/keda.md 8.16): a fixed number of replicas within a time window
 * (scalers/cron/cronwindow.h). It needs only the clock, and triggers a poll when a window opens or
 * closes. Unlike KEDA it checks time zone and expressions at build time, and refuses windows that
 * never open or never close.
 */

#include "scalers/scaler.h"

extern const struct scaler_type cron_scaler_type;

#endif
