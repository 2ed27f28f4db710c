/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_ETCD_ETCDCLUSTER_H
#define SCALERS_ETCD_ETCDCLUSTER_H

/*
 * The etcd cluster of a trigger: its members and credentials. Immutable and reference-counted. Its
 * key, without secrets, is part of the question's, and sessions are shared by it
 * (scalers/etcd/etcdsession).
 */

#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "net/grpc/grpcendpoint.h"
#include "net/tls/tls.h"

#define ETCDCLUSTER_MEMBERS_MAX 32

struct etcdcluster {
	unsigned refs;
	char *key;
	char *name;                                            /* for messages: "10.0.0.7:2379" */
	struct grpcendpoint *members[ETCDCLUSTER_MEMBERS_MAX]; /* one reference each */
	size_t count;
	char *username, *password; /* NULL: no login */
};

struct etcdcluster_config { /* borrowed */
	const char *namespace_;
	/*
	 * host:port, http://host:port or https://host:port; empty ones are skipped. Without a
	 * scheme, TLS is used when tls is set
	 */
	char *const *members;
	size_t count;
	const struct tls_client_config *tls; /* NULL: tls is disabled */
	const char *username, *password;     /* both or none */
};

/* One reference; NULL with ERR_INVALID, or ERR_DENIED when TLS is demanded (net/tls/tlsrules). */
struct etcdcluster *etcdcluster_new(const struct etcdcluster_config *config, struct err *err);
struct etcdcluster *etcdcluster_ref(struct etcdcluster *p);
void etcdcluster_unref(struct etcdcluster *p); /* NULL is fine; wipes with the last one */

/* Replaces the message if it contains the password. */
void etcdcluster_hide(const struct etcdcluster *p, struct err *err);

#endif
