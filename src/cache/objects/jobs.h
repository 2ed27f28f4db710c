/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CACHE_OBJECTS_JOBS_H
#define CACHE_OBJECTS_JOBS_H

/*
 * The Jobs of ScaledJobs, selected by the label scaledjob.keda.sh/name and kept by one watch (one
 * per watched namespace). Only the leader needs them: it calls jobs_open when there is a ScaledJob,
 * and jobs_close to stop. The watch begins with a consistent list (no resourceVersion: read from
 * etcd), so a new leader that waits for jobs_known sees every Job that its predecessor created.
 * Keyed by the ScaledJob's key (cache/objects/store.h), whether or not that object exists. Returned
 * pointers are valid until the end of the turn, or until a Job is learnt or forgotten.
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

/* the namespaces to watch once opened; borrowed for life; count 0: all */
void jobs_start(struct jobs *j, const char *const *namespaces, size_t count);
void jobs_open(struct jobs *j);  /* no effect when open */
void jobs_close(struct jobs *j); /* drops all Jobs; may be called from anywhere, also from jobs_fn */

/*
 * Whether all Jobs of this namespace were listed since jobs_open. If not, *trouble is the reason,
 * or NULL.
 */
bool jobs_known(const struct jobs *j, const char *namespace_, const char **trouble);

/*
 * a Job of this ScaledJob was added, changed or deleted; owner NULL: jobs_known has changed. Only
 * queues work
 */
typedef void (*jobs_fn)(void *arg, const char *owner);
void jobs_listen(struct jobs *j, jobs_fn fn, void *arg); /* one; for life */

struct jobs_seen {
	const struct job *job;
	/*
	 * loop clock: when it was seen to finish, or found finished after the first list; 0:
	 * running, or finished in the first list
	 */
	int64_t finished_seen_ms;
};
/* The Jobs of one ScaledJob, *count of them, unordered. NULL if there are none. */
const struct jobs_seen *jobs_of(const struct jobs *j, const char *owner, size_t *count);
const struct job *jobs_find(const struct jobs *j, const char *namespace_, const char *name); /* NULL if unknown */

/*
 * The number of running Jobs: unfinished ones, and ones seen to finish after `since_ms` (loop
 * clock), even if deleted since, at most a minute ago. A queue read at since_ms may still include
 * items that such a Job has removed since; counting the Job avoids a second one for them.
 */
size_t jobs_running(const struct jobs *j, const char *owner, int64_t since_ms);

struct jobs_tally {
	size_t running, complete, failed;
};
struct jobs_tally jobs_tally(const struct jobs *j, const char *owner);

/* the answer to a write or a read, before the watch */
void jobs_learn(struct jobs *j, const json_t *job);
void jobs_forget(struct jobs *j, const char *namespace_,
	const char *name); /* a delete succeeded or returned "not found" */

#endif
