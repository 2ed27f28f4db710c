/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_CRON_CRON_H
#define SCALERS_CRON_CRON_H

/*
 * Trigger type `cron`: so many replicas within a window of time (keda-scalers.md A.6; what a window
 * is: scalers/cron/cronwindow.h). It asks nobody but the clock, and wakes the loop when a window
 * opens or closes. Unlike KEDA it looks at time zone and expressions when it is built, and refuses
 * windows that never open or never close.
 */

#include "scalers/scaler.h"

extern const struct scaler_type cron_scaler_type;

#endif
