/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_AZURE_SERVICEBUS_H
#define SCALERS_AZURE_SERVICEBUS_H

/*
 * Trigger type `azure-servicebus` (doc/keda.md 8.26): messages that wait in a queue or a
 * subscription of Azure Service Bus, or in all whose names match a regular expression. Over
 * scalers/http/httpsource: its management API, whose responses servicebusatom reads.
 */

#include "scalers/scaler.h"

extern const struct scaler_type servicebus_scaler_type;

#endif
