/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_KAFKA_KAFKABROKERS_H
#define NET_KAFKA_KAFKABROKERS_H

/*
 * The connections to a cluster's brokers, one each (net/kafka/kafkalink), as its metadata
 * (net/kafka/kafkamap) names them. For net/kafka/kafkacluster.
 *
 * The first requests go to the bootstrap servers, later ones to the brokers at the addresses that
 * they advertise. The endpoint's TLS settings and credentials apply to all of them. Addresses come
 * from the network: each is checked when it is dialled (net/sourcerules).
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/kafka/kafkaendpoint.h"
#include "net/kafka/kafkalink.h"
#include "net/kafka/kafkamap.h"
#include "net/kafka/kafkamessages.h"

struct kafkabrokers {
	struct kafkalink_terms terms; /* of all links */
	struct kafkamap *map;         /* borrowed */
	size_t next_server;           /* index of the bootstrap server to try first */
	struct kafkalink *links;      /* by address; private */
};

/* terms: only loop, tokens and salter are used. map: with its limits. */
void kafkabrokers_init(struct kafkabrokers *b, const struct kafkalink_terms *terms, struct kafkaendpoint *endpoint,
	struct kafkamap *map);
void kafkabrokers_done(struct kafkabrokers *b);

/* The connection to a broker; NULL with err, for example when its address is unknown. */
struct kafkalink *kafkabrokers_link(struct kafkabrokers *b, int32_t node, struct err *err);
/*
 * A connection for requests that any broker can answer: an open one that is not slow, else the next
 * bootstrap server that has not failed just now.
 */
struct kafkalink *kafkabrokers_any(struct kafkabrokers *b);

/* Takes a coordinator into the map: it may be missing there, or have moved. */
void kafkabrokers_add(struct kafkabrokers *b, const struct kafkamessages_broker *broker);
/* Call when the map has changed: updates the nodes of all connections. */
void kafkabrokers_name_links(struct kafkabrokers *b);

/* Closes idle bootstrap connections once a broker's connection is open. */
void kafkabrokers_close_bootstrap(struct kafkabrokers *b);
void kafkabrokers_forget_old(struct kafkabrokers *b, int64_t now_ms);

#endif
