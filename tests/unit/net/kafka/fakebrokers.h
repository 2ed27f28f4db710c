/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_NET_KAFKA_FAKEBROKERS_H
#define TESTS_UNIT_NET_KAFKA_FAKEBROKERS_H

/*
 * Two fake Kafka brokers on loopback, for behaviour that a real one does not show on demand:
 * leaders that move between two requests, malformed answers, silence. They implement the seven
 * requests, and know one topic, "t", whose partitions alternate between the brokers. tests/live
 * uses real ones.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/loop.h"

#define FAKE_BROKERS    2
#define FAKE_PARTITIONS 4

enum { FAKE_METADATA = 3, FAKE_OFFSETS = 2, FAKE_COORDINATOR = 10, FAKE_COMMITTED = 9, FAKE_APIS = 40 };

struct fakebroker {
	struct fakebrokers *all;
	int32_t id;
	int listener;
	uint16_t port;
	struct event *accepting;
	struct fakeconnection *connections;
	unsigned accepted;
	unsigned asked[FAKE_APIS]; /* by request number */
	bool silent;               /* reads, and never answers */
	bool cuts;                 /* closes current connections at their next request */
};

struct fakebrokers { /* their answers; tests may change them */
	struct loop *loop;
	struct fakebroker brokers[FAKE_BROKERS];
	uint16_t advertised[FAKE_BROKERS]; /* advertised instead of their own ports; 0: their own */
	int32_t leaders[FAKE_PARTITIONS];
	int64_t ends[FAKE_PARTITIONS], starts[FAKE_PARTITIONS], committed[FAKE_PARTITIONS];
	int32_t coordinator;
	/*
	 * How many of the next answers have the error, for the topic, its partitions, or the group.
	 */
	int16_t topic_error, offset_error, group_error, coordinator_error;
	unsigned topic_errors, offset_errors, group_errors, coordinator_errors;
	int32_t strangers;         /* more brokers, all at the first one's address */
	int32_t coordinators;      /* how many were named; all are new ones if the next field is true */
	bool renames_coordinator;  /* at each request */
	int32_t crowd;             /* more partitions, each led by an unnamed broker of its own */
	bool leaves_out_ends;      /* of partition 0 */
	bool leaves_out_committed; /* of partition 0 */
	int lies_about;            /* request answered with a count of 2^31 - 1; 0: none */
	int silent_about;          /* request never answered; 0: none */
	bool says_nothing;         /* answers are empty */
	bool closes;               /* instead of answering ApiVersions */
	bool old;                  /* offers no version that we support */
};

void fakebrokers_start(struct fakebrokers *f, struct loop *loop);
void fakebrokers_end(struct fakebrokers *f);
void fakebrokers_hang_up(struct fakebroker *b); /* all connections */
unsigned fakebrokers_asked(const struct fakebrokers *f, int api);

#endif
