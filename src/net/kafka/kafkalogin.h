/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_KAFKA_KAFKALOGIN_H
#define NET_KAFKA_KAFKALOGIN_H

/* A login (net/kafka/kafkasasl) of an endpoint: with which secrets, tokens and nonces it begins. */

#include "net/identity/identity.h"
#include "net/kafka/kafkaendpoint.h"

/* credential: of the endpoint's identity; host: of the broker. All is borrowed for this call. */
struct kafkasasl *kafkalogin_new(const struct kafkaendpoint *e, const struct credential *credential, const char *host);

#endif
