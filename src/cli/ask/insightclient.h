/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_ASK_INSIGHTCLIENT_H
#define CLI_ASK_INSIGHTCLIENT_H

/*
 * Client of the insight API (serve/insight) for sub-commands: over the Unix socket of a kscaled on
 * this host, or through the API server as the user of a kubeconfig, with the same paths and
 * answers. Blocks, with a deadline.
 */

#include <jansson.h>

#include "base/err.h"

#define INSIGHTCLIENT_SOCKET "/run/kscaled/insight.sock" /* of the systemd unit */

/* Strings are borrowed; NULL: not set. The first two take precedence; only one may be set. */
struct insightclient_ways {
	const char *socket, *kubeconfig; /* of the command line */
	const char *usual_socket;        /* the daemon's option; NULL: INSIGHTCLIENT_SOCKET. Used if it accepts a
					    connection */
	const char *usual_kubeconfig;    /* the daemon's option; NULL: the service account of the Pod */
};

struct insightclient;

/* NULL and ERR_INVALID: neither is usable; the message has the reasons. */
struct insightclient *insightclient_new(const struct insightclient_ways *ways, struct err *err);
void insightclient_free(struct insightclient *c);

/*
 * The namespace of objects that are named without one, as for kubectl: that of the kubeconfig's
 * context or of the service account, else "default". NULL: with a socket. Borrowed.
 */
const char *insightclient_namespace(const struct insightclient *c);

/*
 * path: percent-encoded; accept: the media type. The caller owns *object. ERR_MISSING: kscaled
 * answers, with its message, that there is no such object; ERR_DENIED: the user may not read it;
 * ERR_TEMPORARY: no answer, or none of kscaled.
 */
int insightclient_get(struct insightclient *c, const char *path, const char *accept, json_t **object, struct err *err);

#endif
