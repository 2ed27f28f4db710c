/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_CERTS_APISERVICE_H
#define CONTROL_CERTS_APISERVICE_H

/*
 * One of our APIServices, which tells the API server where we are: watched by name. While it points
 * to our Service, the leader keeps our CA in its caBundle, under its resourceVersion. One that
 * points to another Service is not changed, and that Service is reported, unless take_over is set.
 */

#include <stdbool.h>
#include <stdint.h>

#include "kube/client.h"

struct apiservice;

enum apiservice_points { APISERVICE_UNKNOWN, APISERVICE_MISSING, APISERVICE_TO_US, APISERVICE_TO_OTHERS };

struct apiservice_config { /* copied; its texts outlive the apiservice */
	const char *name;
	const char *what; /* that is not served without it, for people */
	bool optional;    /* that it is missing, or of others, is logged as information, not as a warning */
	const char *namespace_, *service_name; /* our Service */
	int service_port;                      /* of it; written only when an APIService is taken over */
	bool recreate;                         /* see apiservice_release */
	bool own_ca;                           /* apiservice_set_bundle will be called: nothing is written before */
	bool take_over;
};

/* on_change: the result of a function below may have changed; NULL: the caller need not know. */
struct apiservice *apiservice_new(struct kube *kube, const struct apiservice_config *config,
	void (*on_change)(void *arg), void *arg);
void apiservice_free(struct apiservice *a);

/*
 * With `recreate`: the leader deletes it, so that the API server asks nobody while this process is
 * away, and creates it again when it leads and there is none (its port is read from our Service).
 * From now on nothing is written; what is on its way is waited for, or it would arrive after us.
 * False: there is nothing to release, and no callback; else done is called once, within
 * deadline_ms, whatever came of it.
 */
bool apiservice_release(struct apiservice *a, int64_t deadline_ms, void (*done)(void *arg), void *arg);

void apiservice_set_leading(struct apiservice *a, bool leading);
/* what caBundle is to hold; copied; NULL: it is left as it is */
void apiservice_set_bundle(struct apiservice *a, const char *pem);

enum apiservice_points apiservice_points(const struct apiservice *a);
bool apiservice_is_known(const struct apiservice *a);       /* it was read, or we may not read it */
const char *apiservice_foreign(const struct apiservice *a); /* borrowed; "namespace/name" of the Service it points to;
							       NULL unless that is another's and stays so */
/* its caBundle holds that CA, or it asks for no certificate */
bool apiservice_trusts(const struct apiservice *a, const char *ca_pem);
int64_t apiservice_since_ms(const struct apiservice *a);    /* loop clock: when its caBundle was last seen to change */
const char *apiservice_trouble(const struct apiservice *a); /* borrowed; NULL: none */

#endif
