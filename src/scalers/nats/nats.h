/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_NATS_NATS_H
#define SCALERS_NATS_NATS_H

/*
 * Trigger type `nats-jetstream`: the backlog of a JetStream consumer, from the monitoring port of
 * NATS servers (doc/keda.md 8.13).
 *
 * In a cluster only the consumer's leader knows the exact backlog; the others report the leader's
 * name and counts that may be stale. So the leader is searched once, by the addresses that the
 * servers report of each other, and then asked directly as long as it is the same process (server
 * ID) and still names itself as leader.
 */

#include "scalers/scaler.h"

extern const struct scaler_type nats_scaler_type;

#endif
