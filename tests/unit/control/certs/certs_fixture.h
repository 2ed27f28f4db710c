/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_CONTROL_CERTS_CERTS_FIXTURE_H
#define TESTS_UNIT_CONTROL_CERTS_CERTS_FIXTURE_H

/*
 * The keeper of certificates on the fake server with a real TLS server, and the cluster's objects:
 * for the tests of control/certs and its parts.
 */

#include <stdbool.h>
#include <stdint.h>

#include "../fake_kube.h"
#include "control/certs/certpack.h"
#include "control/certs/certs.h"

#define SECRETS     "/api/v1/namespaces/kscaled/secrets"
#define SECRET      SECRETS "/kscaled-certs"
#define APISERVICES "/apis/apiregistration.k8s.io/v1/apiservices"
#define APISERVICE  APISERVICES "/v1beta1.external.metrics.k8s.io"
#define DAY_MS      (86400LL * 1000)

struct certs_fixture {
	struct tls_server *tls;
	struct certs *certs;
	unsigned told; /* calls of on_foreign */
	char who[256]; /* its last value; "-" for NULL */
};
extern struct certs_fixture t;
extern const char *const certs_names[]; /* of the serving certificate */

int certs_setup(void **state);
int certs_teardown(void **state);
void certs_next_case(void); /* for tests of several cases: the one before ends, the next begins */

struct certs_config certs_usual(void);
int certs_try_with(struct certs_config config, struct err *err);
void certs_start_with(struct certs_config config);
void certs_start(bool leading); /* and a little later */

/* The cluster. more: JSON behind other fields of spec. */
void put_apiservice(const char *namespace_, const char *service, const char *more);
void put_our_apiservice(void);
void put_our_apiservice_trusting(const char *ca_pem);
void somebody_labels_the_apiservice(void);
const json_t *apiservice_field(const char *key); /* of its spec */
char *ca_bundle(void);                           /* decoded; NULL: none; the caller frees */
char *secret_value(const char *key);             /* the same */
void put_pack(const struct certpack *pack);

/* As made so long ago. */
struct certpack make_pack(const char *const *dns_names, int64_t serving_ago_ms, int64_t serving_valid_ms,
	int64_t ca_ago_ms, int64_t ca_valid_ms);
struct certpack fresh_pack(void);
struct certpack loose_pack(void); /* as versions made it whose authority could sign for any name; a day old */

bool serves(const char *cert_pem); /* the TLS server has this certificate */
bool serves_the_secret(void);
void assert_bundle_is_the_ca(void);

#define T(fn) cmocka_unit_test_setup_teardown(fn, certs_setup, certs_teardown)

#endif
