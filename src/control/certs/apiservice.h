/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_CERTS_APISERVICE_H
#define CONTROL_CERTS_APISERVICE_H

/*
 * One of our APIServices, which tells the API server where we are: watched by name. While it points
 * to our Service, the leader keeps our CA in its caBundle, under its resourceVersion. One that
 * points to another Service is not changed but reported, unless take_over is set.
 */

#include <stdbool.h>
#include <stdint.h>

#include "kube/client.h"

struct apiservice;

enum apiservice_points { APISERVICE_UNKNOWN, APISERVICE_MISSING, APISERVICE_TO_US, APISERVICE_TO_OTHERS };

struct apiservice_config { /* copied; its texts outlive the apiservice */
	const char *name;
	const char *what; /* what is not served without it, for people */
	bool optional;    /* if it is missing or foreign, that is logged as information, not as a warning */
	const char *namespace_, *service_name; /* our Service */
	int service_port;                      /* of our Service; written only when an APIService is taken over */
	bool recreate;                         /* see apiservice_release */
	bool own_ca;                           /* apiservice_set_bundle will be called: nothing is written before */
	bool take_over;
};

/* on_change: the result of a function below may have changed; NULL: not wanted. */
struct apiservice *apiservice_new(struct kube *kube, const struct apiservice_config *config,
	void (*on_change)(void *arg), void *arg);
void apiservice_free(struct apiservice *a);

/*
 * With `recreate`: the leader deletes it, so that the API server sends no requests while this
 * process is away, and recreates it when it leads and it is missing (the port is read from our
 * Service). From now on nothing is written; a write on its way is waited for, or it would arrive
 * afterwards. False: nothing to release, and no callback; otherwise done is called once, within
 * deadline_ms, in any case.
 */
bool apiservice_release(struct apiservice *a, int64_t deadline_ms, void (*done)(void *arg), void *arg);

void apiservice_set_leading(struct apiservice *a, bool leading);
/* wanted caBundle; copied; NULL: left as it is */
void apiservice_set_bundle(struct apiservice *a, const char *pem);

enum apiservice_points apiservice_points(const struct apiservice *a);
bool apiservice_is_known(const struct apiservice *a);       /* it was read, or we may not read it */
const char *apiservice_foreign(const struct apiservice *a); /* borrowed; "namespace/name" of the Service it points to;
							       NULL if ours, or to be taken over */
/* whether its caBundle contains that CA, or it asks for no certificate */
bool apiservice_trusts(const struct apiservice *a, const char *ca_pem);
int64_t apiservice_since_ms(const struct apiservice *a);    /* loop clock: when its caBundle was last seen to change */
const char *apiservice_trouble(const struct apiservice *a); /* borrowed; NULL: none */

#endif
