/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_KAFKA_KAFKALOGIN_H
#define NET_KAFKA_KAFKALOGIN_H

/* Starts a login (net/kafka/kafkasasl) with an endpoint's secrets, tokens and nonces. */

#include "net/identity/identity.h"
#include "net/kafka/kafkaendpoint.h"

/*
 * credential: of the endpoint's identity. host: of the broker. Arguments are borrowed for the call.
 */
struct kafkasasl *kafkalogin_new(const struct kafkaendpoint *e, const struct credential *credential, const char *host);

#endif
