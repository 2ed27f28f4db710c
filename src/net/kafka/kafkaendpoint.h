/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_KAFKA_KAFKAENDPOINT_H
#define NET_KAFKA_KAFKAENDPOINT_H

/*
 * An endpoint of net/kafka: a cluster's bootstrap servers, and how to log in. Immutable,
 * reference-counted. All brokers of the cluster, including those that it advertises, are reached
 * with the same TLS settings and credentials. Modules other than net/kafka read only base's key and
 * name.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "base/strmap.h"
#include "net/endpoint.h"
#include "net/kafka/kafkasasl.h"
#include "net/sign/scram.h"

struct identity;

#define KAFKAENDPOINT_SERVERS_MAX 64

struct kafkaserver { /* a host and port */
	char *host;  /* owned; without brackets */
	uint16_t port;
};

struct kafkaendpoint {
	struct endpoint base; /* base.name: the bootstrap servers, truncated */
	struct kafkaserver *servers;
	size_t count;
	bool tls;
	enum kafkasasl_mechanism mechanism;
	char *username, *password;  /* NULL for none; secrets */
	struct scram_memory memory; /* of its last login; secret, and the one mutable field */
	struct identity *identity;  /* whose token is sent, or whose AWS keys sign it; NULL: neither */
	char *region;               /* AWS region of the MSK cluster that the token is signed for; NULL: not MSK */
	char *trusted;              /* for kscaled's own identity: as in struct disclosure; may be NULL */
	struct strmap extensions;   /* OAUTHBEARER; secret */
};

struct kafkaendpoint_config {
	const char *namespace_;     /* of its trigger (net/endpoint.h); may be NULL */
	const char *const *servers; /* host:port; "" is ignored, as after a trailing comma */
	size_t count;
	uint16_t port; /* the default; 0: each address must have one */
	bool tls;
	struct tls_client_config tls_config; /* used with tls only */
	enum kafkasasl_mechanism mechanism;
	const char *username, *password;
	struct identity *identity;       /* takes its own reference */
	const char *region;              /* AWS; NULL: the identity's credential is the token */
	const char *trusted;             /* hosts trusted besides MSK's (net/identity/disclosure); may be NULL */
	const struct strmap *extensions; /* copied; may be NULL */
};

/*
 * Checks addresses and PEMs, and makes the key. No network I/O. Returns one reference, or NULL with
 * ERR_INVALID, which names the field.
 */
struct kafkaendpoint *kafkaendpoint_new(const struct kafkaendpoint_config *config, struct err *err);
/*
 * Whether the identity's credential may be sent to a broker of this name, configured or advertised:
 * what kscaled itself signs for MSK is valid in the whole region. -1 with ERR_INVALID.
 */
int kafkaendpoint_may_disclose(const struct kafkaendpoint *e, const char *host, struct err *err);
/* Returns text, or a placeholder if it contains the password. For messages only. */
const char *kafkaendpoint_redact(const struct kafkaendpoint *e, const char *text);

/*
 * Suggests why a listener closes the connection, or answers nonsense, before its first answer: to
 * ApiVersions, or to the first request after the login (open). "" if there is no idea.
 */
const char *kafkaendpoint_hint(const struct kafkaendpoint *e, bool open);

#endif
