/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MONGO_MONGOENDPOINT_H
#define NET_MONGO_MONGOENDPOINT_H

/*
 * An endpoint of net/mongo: a server or a replica set by its hosts, or by the name whose SRV
 * records say them (mongodb+srv), which of its members are asked, and how to log in. Immutable,
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

/* Which member of a replica set is asked: the modes of read preferences. */
enum mongoendpoint_reads {
	MONGOENDPOINT_PRIMARY,
	MONGOENDPOINT_PRIMARY_PREFERRED,
	MONGOENDPOINT_SECONDARY,
	MONGOENDPOINT_SECONDARY_PREFERRED,
	MONGOENDPOINT_NEAREST, /* whoever answers first */
};
extern const char *const mongoendpoint_reads_words[]; /* "primary", ...; NULL-terminated */

enum mongoendpoint_mechanism {
	MONGOENDPOINT_NO_LOGIN,
	MONGOENDPOINT_SCRAM, /* what the server has for the user */
	MONGOENDPOINT_SCRAM_SHA1,
	MONGOENDPOINT_SCRAM_SHA256,
	MONGOENDPOINT_X509,
};

struct mongoendpoint_host {
	char *name; /* owned; without brackets */
	uint16_t port;
};

struct mongoendpoint_config {
	const char *namespace_; /* of its trigger (net/endpoint.h); NULL: none */
	const struct mongoendpoint_host *hosts;
	size_t count;
	const char *seed;    /* the name, in the place of the hosts; NULL: none */
	const char *service; /* in front of it; NULL: "mongodb" */
	size_t max_hosts;    /* that are taken of its SRV records; 0: all */
	bool unbalanced;     /* its TXT record may say loadBalanced, which is overruled */
	const char *set;     /* name of the replica set; NULL: any, or none; or what the TXT record says */
	bool direct;         /* the one host is asked, whoever it is */
	enum mongoendpoint_reads reads;
	bool tls, tls_insecure;
	const char *tls_ca_pem, *tls_cert_pem, *tls_key_pem, *tls_key_password;
	enum mongoendpoint_mechanism mechanism;
	const char *username, *password; /* NULL for none */
	const char *source;              /* database of the user; NULL: "admin" */
	bool source_given;               /* the TXT record of the seed does not say another */
	const char *app_name;            /* shown to the server; NULL for none */
	int64_t connect_ms;              /* per host; 0: the default */
};

struct mongoendpoint {
	struct endpoint base; /* base.name: the hosts as given, cut when there are many; or the seed */
	struct mongoendpoint_host *hosts;
	size_t count;
	char *seed, *service; /* seed: NULL: there are hosts */
	size_t max_hosts;
	char *set;
	bool direct, tls, unbalanced, source_given;
	enum mongoendpoint_reads reads;
	enum mongoendpoint_mechanism mechanism;
	char *username, *password;  /* NULL for none; secrets */
	struct scram_memory memory; /* of its last login; a secret, and not immutable */
	char *source, *app_name;
	int64_t connect_ms;
};

/*
 * "host", "host:port", "[v6]:port" as a member of a set or a list has it. -1: it is none, or has
 * characters that no name has.
 */
int mongoendpoint_parse_host(const char *text, struct mongoendpoint_host *out);

/* A name that may be a seed: the caller owns it. NULL: it is none; *has_port tells why. */
char *mongoendpoint_parse_seed(const char *text, bool *has_port);

/*
 * Checks hosts, credentials and PEMs, and makes the key. NULL with ERR_INVALID, which names the
 * field. Returns one reference.
 */
struct mongoendpoint *mongoendpoint_new(const struct mongoendpoint_config *config, struct err *err);
void mongoendpoint_unref(struct mongoendpoint *e); /* wipes with the last reference */

#endif
