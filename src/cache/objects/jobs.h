/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_OBJECTS_JOBS_H
#define CACHE_OBJECTS_JOBS_H

/*
 * The Jobs of ScaledJobs, by the label scaledjob.keda.sh/name alone, kept by one watch (one per
 * watched namespace). Only who acts needs them: the watch begins with jobs_open, which the leader
 * calls when there is a ScaledJob, and ends with jobs_close. It begins with a list of the API
 * server's newest state (no resourceVersion: read from etcd), so a new leader that waits for
 * jobs_known sees every Job that the one before it made.
 *
 * Told by the ScaledJob's key (cache/objects/store.h), which need not be the key of an object that
 * is there. What was handed out is good until the loop turns, or a Job is learnt or forgotten.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/counters.h"
#include "crd/job.h"
#include "kube/client.h"
#include "net/loop.h"

struct jobs;

struct jobs *jobs_new(struct kube *kube, struct loop *loop, struct counters *counters);
void jobs_free(struct jobs *j);

/* which ones are watched, once opened; borrowed for life; count 0: all */
void jobs_start(struct jobs *j, const char *const *namespaces, size_t count);
void jobs_open(struct jobs *j);  /* nothing happens when it is open */
void jobs_close(struct jobs *j); /* all is forgotten; from anywhere, jobs_fn too */

/*
 * Whether all Jobs of this namespace were listed since jobs_open. If not, *trouble says why they
 * cannot be, or is NULL.
 */
bool jobs_known(const struct jobs *j, const char *namespace_, const char **trouble);

/*
 * a Job of this ScaledJob came, changed or went; or (owner NULL) which are known is different. It
 * only takes note
 */
typedef void (*jobs_fn)(void *arg, const char *owner);
void jobs_listen(struct jobs *j, jobs_fn fn, void *arg); /* one; for life */

struct jobs_seen {
	const struct job *job;
	/*
	 * loop clock: when we saw it finish, or found it finished after the first list; 0 while it
	 * runs, and of one that had finished in the first list
	 */
	int64_t finished_seen_ms;
};
/* The Jobs of one ScaledJob, in no order; *count. NULL when there are none. */
const struct jobs_seen *jobs_of(const struct jobs *j, const char *owner, size_t *count);
const struct job *jobs_find(const struct jobs *j, const char *namespace_, const char *name); /* NULL when not known */

/*
 * How many run: not finished now, or seen to finish after `since_ms` (loop clock), though it be
 * gone since, at most a minute ago. A queue that was read at since_ms may still hold what such a
 * Job has taken away since; counted as running it is not done twice.
 */
size_t jobs_running(const struct jobs *j, const char *owner, int64_t since_ms);

struct jobs_tally {
	size_t running, complete, failed;
};
struct jobs_tally jobs_tally(const struct jobs *j, const char *owner);

/* the answer to a write or a read, ahead of the watch */
void jobs_learn(struct jobs *j, const json_t *job);
void jobs_forget(struct jobs *j, const char *namespace_,
	const char *name); /* a delete was answered, or met "not found" */

#endif
