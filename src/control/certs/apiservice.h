/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_CERTS_APISERVICE_H
#define CONTROL_CERTS_APISERVICE_H

/*
 * One of our APIServices, by which the API server finds us: watched by name. While it points to our
 * Service, the leader keeps our CA in its caBundle, under its resourceVersion. One that points to
 * another Service is left alone, and whose it is is told, unless we are told to take it over.
 */

#include <stdbool.h>
#include <stdint.h>

#include "kube/client.h"

struct apiservice;

enum apiservice_points { APISERVICE_UNKNOWN, APISERVICE_MISSING, APISERVICE_TO_US, APISERVICE_TO_OTHERS };

struct apiservice_config {
	const char *name;
	const char *what; /* that nobody finds without it, for people */
	bool optional;    /* where it is missing, or another's, that is worth a word and no warning */
	const char *namespace_, *service_name; /* our Service */
	int service_port;                      /* of it; written only when an APIService is taken over */
	bool own_ca;                           /* apiservice_set_bundle will be called: nothing is written before */
	bool take_over;
};

/* on_change: something below may be another now. */
struct apiservice *apiservice_new(struct kube *kube, const struct apiservice_config *config,
	void (*on_change)(void *arg), void *arg);
void apiservice_free(struct apiservice *a);

void apiservice_set_leading(struct apiservice *a, bool leading);
/* what caBundle shall hold; copied; NULL: it is not our business */
void apiservice_set_bundle(struct apiservice *a, const char *pem);

enum apiservice_points apiservice_points(const struct apiservice *a);
bool apiservice_is_known(const struct apiservice *a);       /* it was looked at, or we may not look */
const char *apiservice_foreign(const struct apiservice *a); /* borrowed; "namespace/name" of the Service it points to;
							       NULL unless that is another's and stays so */
/* its caBundle holds that CA, or it asks for no certificate */
bool apiservice_trusts(const struct apiservice *a, const char *ca_pem);
int64_t apiservice_since_ms(const struct apiservice *a);    /* loop clock: when its caBundle was last seen to change */
const char *apiservice_trouble(const struct apiservice *a); /* borrowed; NULL: none */

#endif
