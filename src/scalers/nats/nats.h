/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_NATS_NATS_H
#define SCALERS_NATS_NATS_H

/*
 * nats-jetstream: what a consumer of a JetStream stream has still to do, from the monitoring port
 * of NATS servers (doc/keda.md 8.13).
 *
 * Of a cluster only the consumer's leader knows it: each server repeats the leader's name, and
 * counts what it has heard of. So the answer is taken from the server that is called so. It is
 * looked for once, by what the servers say of each other, and asked directly for as long as it is
 * the leader: the same process, by its identity, and the consumer names it.
 */

#include "scalers/scaler.h"

extern const struct scaler_type nats_scaler_type;

#endif
