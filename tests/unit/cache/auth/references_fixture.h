/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_CACHE_AUTH_REFERENCES_FIXTURE_H
#define TESTS_UNIT_CACHE_AUTH_REFERENCES_FIXTURE_H

/*
 * Secrets of namespace shop on the fake cluster, the owners that ask for them, and their
 * notifications. For the tests of cache/auth/references.
 */

#include <stddef.h>

#include "../../fakes/fakecluster.h"
#include "../../fakes/fakeloop.h"
#include "base/err.h"
#include "cache/auth/references_parts.h"

#define SECRETS      "/api/v1/namespaces/shop/secrets"
#define SECRET(name) SECRETS "/" name
#define REDIS        SECRET("redis")
#define EVERY_SECRET SECRETS "/*"
#define CONFIG       "/api/v1/namespaces/shop/configmaps/config"

extern struct references_fixture {
	struct references *references;
	unsigned told;
	char all[1024]; /* owners told */
	unsigned warnings;
	char warning[2048]; /* the last one */
	struct err err;     /* of the last answer */
} t;

int setup(void **state);
int teardown(void **state);
void forget_told(void);

/* Sets keys, given as key, value, ..., NULL; value NULL removes the key. */
void put(const char *path, ...);
void put_numbered(int from, int to); /* s<from> to s<to>: key=v1 */

/* One look-up in the owner's round. */
enum reference_state ask(const char *owner, const char *name, const char *key, const char **value);
/* A round of one question. The answer is the value, or what is wrong; good until the next. */
const char *round_of(const char *owner, const char *name, const char *key);
enum reference_state state_of(const char *owner, const char *name, const char *key);

/* Each of s<from> to s<to> for an owner of the same name. */
void want_numbered(int from, int to);
void assert_numbered(int from, int to, const char *expected);
void release_numbered(int from, int to);

size_t watches(void); /* that the cluster sees, and that references_stats counts */

#endif
