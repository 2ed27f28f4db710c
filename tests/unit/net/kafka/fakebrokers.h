/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_NET_KAFKA_FAKEBROKERS_H
#define TESTS_UNIT_NET_KAFKA_FAKEBROKERS_H

/*
 * Two fake Kafka brokers on loopback, for what a real one cannot be made to do at a word: leaders
 * that move between two requests, answers that lie, silence. They speak the seven requests and know
 * one topic, "t", whose partitions take turns between the brokers. tests/live has real ones.
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
	unsigned asked[FAKE_APIS]; /* by the number of the request */
	bool silent;               /* reads, and says nothing */
	bool cuts;                 /* the connections that there are, at their next request */
};

struct fakebrokers { /* what they say; tests change it as they like */
	struct loop *loop;
	struct fakebroker brokers[FAKE_BROKERS];
	uint16_t advertised[FAKE_BROKERS]; /* instead of their own ports; 0: these */
	int32_t leaders[FAKE_PARTITIONS];
	int64_t ends[FAKE_PARTITIONS], starts[FAKE_PARTITIONS], committed[FAKE_PARTITIONS];
	int32_t coordinator;
	/* How many of the next answers have the error, of the topic, partitions, or group. */
	int16_t topic_error, offset_error, group_error, coordinator_error;
	unsigned topic_errors, offset_errors, group_errors, coordinator_errors;
	int32_t strangers;         /* more brokers, all at the address of the first */
	int32_t coordinators;      /* so many were named; each is a new broker, if the next is true */
	bool renames_coordinator;  /* at each request */
	int32_t crowd;             /* more partitions, each led by a broker of its own that nobody names */
	bool leaves_out_ends;      /* of partition 0 */
	bool leaves_out_committed; /* of partition 0 */
	int lies_about;            /* the request that is answered with a count of 2^31 - 1; 0: none */
	bool says_nothing;         /* answers are of no bytes */
	bool closes;               /* instead of answering ApiVersions */
	bool old;                  /* offers no version that we know */
};

void fakebrokers_start(struct fakebrokers *f, struct loop *loop);
void fakebrokers_end(struct fakebrokers *f);
void fakebrokers_hang_up(struct fakebroker *b); /* all connections */
unsigned fakebrokers_asked(const struct fakebrokers *f, int api);

#endif
