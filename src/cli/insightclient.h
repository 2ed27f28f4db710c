/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_INSIGHTCLIENT_H
#define CLI_INSIGHTCLIENT_H

/*
 * GETs of the insight API (serve/insight), for sub-commands: over the Unix socket of a kscaled on
 * this host, or through the API server as the user of a kubeconfig. The paths and the answers are
 * the same. Blocking, with a deadline.
 */

#include <jansson.h>

#include "base/err.h"

#define INSIGHTCLIENT_SOCKET "/run/kscaled/insight.sock" /* where the systemd unit has it */

/* Texts are borrowed; NULL: not said. What was said counts, and only one of both may be. */
struct insightclient_ways {
	const char *socket, *kubeconfig; /* as the command line says */
	const char *usual_socket;        /* as the daemon is told; NULL: INSIGHTCLIENT_SOCKET. Only if somebody
					    answers there that lets us */
	const char *usual_kubeconfig;    /* as the daemon is told; NULL: the service account of the Pod */
};

struct insightclient;

/* ERR_INVALID: there is no way, and why. */
struct insightclient *insightclient_new(const struct insightclient_ways *ways, struct err *err);
void insightclient_free(struct insightclient *c);

/*
 * path: percent-encoded; accept: what form is wanted. The caller owns *object. ERR_MISSING:
 * kscaled says that there is no such object, in its words; ERR_DENIED: the user may not read it;
 * ERR_TEMPORARY: nobody answers, or not yet, or nothing that is kscaled.
 */
int insightclient_get(struct insightclient *c, const char *path, const char *accept, json_t **object, struct err *err);

#endif
