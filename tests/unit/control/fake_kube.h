/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_CONTROL_FAKE_KUBE_H
#define TESTS_UNIT_CONTROL_FAKE_KUBE_H

/*
 * A small API server at link level, on the loop of fake_loop.h: the symbols of kube/client and
 * kube/watch that control/leader and control/certs call. A fake, because every failure and its
 * moment must be under the test's control: lost answers, two concurrent writers. Objects have
 * resourceVersions; creates, updates and patches meet the conflicts of a real server; the answer to
 * a review (KUBE_REVIEW) is stored at its path. The real client is tested in tests/live.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "fake_loop.h"
#include "kube/client.h"

void fake_start(void); /* the loop's, and an empty server */
void fake_end(void);   /* fails when a timer, a call or a watch is left over */
struct kube *fake_kube(void);

void fake_keep_current(struct kube_config *config); /* read again by kube_refresh; borrowed */

#define FAKE_ANSWER_MS 2 /* every answer takes so long */

/* An object at the server. path: of the object; text: JSON without resourceVersion. */
void fake_put(const char *path, const char *text);
void fake_put_json(const char *path, json_t *object); /* takes it */
void fake_remove(const char *path);
const json_t *fake_object(const char *path);                                 /* borrowed; NULL: none */
const char *fake_text(const char *path, const char *key1, const char *key2); /* of object[key1][key2]; "" when absent */

enum fake_fault {
	FAKE_REFUSE, /* answered with an error, nothing done */
	FAKE_HANG,   /* nothing done, no answer until the call's deadline */
	FAKE_LOSE,   /* done, but no answer until the call's deadline */
};
/*
 * The next `times` (FAKE_ANY: all) calls of this verb (FAKE_ANY) whose path contains `part` fail
 * so. For FAKE_REFUSE, http_status 0 is a broken connection. Lists of watches are KUBE_LIST.
 */
void fake_fail(enum fake_fault fault, int verb, const char *part, int times, int http_status);
void fake_heal(void); /* no faults any more */

/*
 * Called once, just before the next call of that verb on a path containing `part` is carried out: a
 * faster writer.
 */
void fake_just_before(int verb, const char *part, void (*fn)(void));
void fake_ignore_selectors(void); /* watches bring the whole collection, as some servers' caches do */
/* whether a write that is cancelled under way is carried out all the same; at first not */
void fake_cancelled_land(bool land);

unsigned fake_count(int verb, const char *part); /* calls so far; FAKE_ANY */
int64_t fake_last_deadline_ms(void);             /* of the last call, from its start */
enum kube_priority fake_last_priority(void);
unsigned fake_aborts(void);        /* calls of kube_abort_writes */
int64_t fake_write_limit_ms(void); /* as last set */

#endif
