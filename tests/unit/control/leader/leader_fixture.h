/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_CONTROL_LEADER_LEADER_FIXTURE_H
#define TESTS_UNIT_CONTROL_LEADER_LEADER_FIXTURE_H

/*
 * One leader on the fake server, its callbacks, and foreign Leases: for the tests of
 * control/leader.
 */

#include "../fake_kube.h"
#include "cache/leadership.h"
#include "control/leader/leader.h"

#define LEASES     "/apis/coordination.k8s.io/v1/namespaces/kscaled/leases"
#define LEASE      LEASES "/kscaled-test"
#define KEDA_LEASE "/apis/coordination.k8s.io/v1/namespaces/keda/leases/operator.keda.sh"

#define DURATION_MS 15000
#define DEADLINE_MS 10000
#define RETRY_MS    2000
#define ROUND_MS    4410 /* the longest wait of a candidate: 2 s with a jitter of 120%, and the answers */

struct leader_fixture {
	struct leader *leader;
	struct leadership out;
	unsigned won, lost, released;
};
extern struct leader_fixture t;
extern const struct leader_config leader_usual;

int leader_setup(void **state);
int leader_teardown(void **state);
/* For tests of several cases: the one before ends, the next begins. */
void leader_next_case(void);

void leader_start_with(const struct leader_config *config);
void leader_start(void);
void leader_lead(void); /* started, and leading */
void leader_release_now(int64_t deadline_ms);

void put_lease(const char *path, const char *holder, int duration_s, int64_t renewed_unix_ms, int transitions);
void thief_takes_it(void);
void somebody_labels_the_lease(void);
void assert_holder(const char *holder);
int64_t lease_number(const char *field); /* of the Lease's spec */

#define T(fn) cmocka_unit_test_setup_teardown(fn, leader_setup, leader_teardown)

#endif
