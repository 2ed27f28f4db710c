/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_CREDENTIALS_H
#define KUBE_CREDENTIALS_H

/*
 * An immutable, reference-counted copy of what a request needs to reach the API server. Requests
 * under way keep the one they were sent with while the configuration is reloaded.
 */

#include "kube/config.h"
#include "net/http/httpc.h"

struct credentials {
	unsigned holders;
	char *server;
	char *token;               /* NULL; secret */
	struct httpc_server reach; /* its strings are owned here */
};

struct credentials *credentials_new(const struct kube_config *config); /* one reference */
struct credentials *credentials_hold(struct credentials *c);           /* returns c */
void credentials_release(struct credentials *c);                       /* NULL is fine */

#endif
