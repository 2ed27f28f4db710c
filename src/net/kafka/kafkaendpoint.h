/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_KAFKA_KAFKAENDPOINT_H
#define NET_KAFKA_KAFKAENDPOINT_H

/*
 * An endpoint of net/kafka: a cluster by its bootstrap servers, and how to log in. Immutable,
 * reference-counted. All brokers of the cluster, also those that it advertises, are reached with
 * the same TLS settings and credentials. Other modules than net/kafka read only base's key and
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
	struct endpoint base; /* base.name: the bootstrap servers, cut when there are many */
	struct kafkaserver *servers;
	size_t count;
	bool tls;
	enum kafkasasl_mechanism mechanism;
	char *username, *password;  /* NULL for none; secrets */
	struct scram_memory memory; /* of its last login; a secret, and not immutable */
	struct identity *identity;  /* whose token is sent, or made of whose AWS keys; NULL: neither */
	char *region;               /* of AWS: the token is made of keys, for MSK there; else NULL */
	char *trusted;              /* NULL; as of struct disclosure, of an identity that is kscaled's own */
	struct strmap extensions;   /* OAUTHBEARER; secret */
};

struct kafkaendpoint_config {
	const char *namespace_;     /* of its trigger (net/endpoint.h); NULL: none */
	const char *const *servers; /* host:port; "" is left out, as behind a last comma */
	size_t count;
	uint16_t port; /* where none is given; 0: one must be */
	bool tls;
	bool tls_insecure;
	const char *tls_ca_pem, *tls_cert_pem, *tls_key_pem, *tls_key_password;
	enum kafkasasl_mechanism mechanism;
	const char *username, *password;
	struct identity *identity;       /* takes a reference of its own */
	const char *region;              /* NULL: the identity's credential is a token */
	const char *trusted;             /* besides MSK's, of net/identity/disclosure; NULL: none */
	const struct strmap *extensions; /* copied; NULL for none */
};

/*
 * Checks addresses and PEMs, and makes the key. No network I/O. NULL with ERR_INVALID, which names
 * the field. Returns one reference.
 */
struct kafkaendpoint *kafkaendpoint_new(const struct kafkaendpoint_config *config, struct err *err);
/*
 * Whether a broker with this name, configured or announced, may be shown what the identity makes:
 * what kscaled itself signs for MSK is good for all of a region. -1 with ERR_INVALID.
 */
int kafkaendpoint_may_show(const struct kafkaendpoint *e, const char *host, struct err *err);
/*
 * A text that a broker said, as it may be shown: a name that has the password in it is not. (Only
 * the message is changed; a broker may well be called as a password is.)
 */
const char *kafkaendpoint_shown(const struct kafkaendpoint *e, const char *text);
struct kafkaendpoint *kafkaendpoint_ref(struct kafkaendpoint *e);
void kafkaendpoint_unref(struct kafkaendpoint *e); /* wipes with the last reference */

/*
 * What else a listener may expect that ends the connection, or answers nonsense, before it has
 * answered: to ApiVersions, or to the first request after the login (open). "" for no idea.
 */
const char *kafkaendpoint_hint(const struct kafkaendpoint *e, bool open);

#endif
