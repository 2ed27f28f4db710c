/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MONGO_MONGOENDPOINT_H
#define NET_MONGO_MONGOENDPOINT_H

/*
 * An endpoint of net/mongo: a server or a replica set by its hosts, or by a name whose SRV records
 * list them (mongodb+srv); which of its members to ask; and how to log in. Immutable,
 * reference-counted, without I/O. Members that a server or a record names are reached with the same
 * TLS settings and credentials.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/endpoint.h"
#include "net/sign/scram.h"

#define MONGOENDPOINT_HOSTS_MAX 50
#define MONGOENDPOINT_PORT      27017

/* Which member of a replica set to ask: the modes of read preferences. */
enum mongoendpoint_reads {
	MONGOENDPOINT_PRIMARY,
	MONGOENDPOINT_PRIMARY_PREFERRED,
	MONGOENDPOINT_SECONDARY,
	MONGOENDPOINT_SECONDARY_PREFERRED,
	MONGOENDPOINT_NEAREST, /* the first that answers */
};
extern const char *const mongoendpoint_reads_words[]; /* "primary", ...; NULL-terminated */

enum mongoendpoint_mechanism {
	MONGOENDPOINT_NO_LOGIN,
	MONGOENDPOINT_SCRAM, /* the best that the server has for the user */
	MONGOENDPOINT_SCRAM_SHA1,
	MONGOENDPOINT_SCRAM_SHA256,
	MONGOENDPOINT_X509,
};

struct mongoendpoint_host {
	char *name; /* owned; without brackets */
	uint16_t port;
};

struct mongoendpoint_config {
	const char *namespace_; /* of its trigger (net/endpoint.h); may be NULL */
	const struct mongoendpoint_host *hosts;
	size_t count;
	const char *seed;    /* the SRV name, instead of hosts; NULL: hosts are given */
	const char *service; /* the SRV service name; NULL: "mongodb" */
	size_t max_hosts;    /* most hosts to take from the SRV records; 0: no limit */
	bool unbalanced;     /* overrides loadBalanced of the TXT record */
	const char *set;     /* name of the replica set; NULL: any or none, or the TXT record's */
	bool direct;         /* ask the one host, whatever its role */
	enum mongoendpoint_reads reads;
	bool tls;
	struct tls_client_config tls_config; /* used with tls only */
	enum mongoendpoint_mechanism mechanism;
	const char *username, *password; /* may be NULL */
	const char *source;              /* the user's database; NULL: "admin" */
	bool source_given;               /* overrides the TXT record's authSource */
	const char *app_name;            /* shown to the server; may be NULL */
	int64_t connect_ms;              /* per host; 0: the default */
};

struct mongoendpoint {
	struct endpoint base; /* base.name: the hosts as given, truncated; or the seed */
	struct mongoendpoint_host *hosts;
	size_t count;
	char *seed, *service; /* seed: NULL if there are hosts */
	size_t max_hosts;
	char *set;
	bool direct, tls, unbalanced, source_given;
	enum mongoendpoint_reads reads;
	enum mongoendpoint_mechanism mechanism;
	char *username, *password;  /* may be NULL; secrets */
	struct scram_memory memory; /* of its last login; secret, and the one mutable field */
	char *source, *app_name;
	int64_t connect_ms;
};

/* Parses "host", "host:port" or "[v6]:port". -1: invalid, or with characters that no name has. */
int mongoendpoint_parse_host(const char *text, struct mongoendpoint_host *out);

/* Parses an SRV name; the caller owns it. NULL: invalid, because of a port if *has_port. */
char *mongoendpoint_parse_seed(const char *text, bool *has_port);

/*
 * Checks hosts, credentials and PEMs, and makes the key. Returns one reference, or NULL with
 * ERR_INVALID, which names the field.
 */
struct mongoendpoint *mongoendpoint_new(const struct mongoendpoint_config *config, struct err *err);

#endif
