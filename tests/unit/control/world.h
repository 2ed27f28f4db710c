/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_CONTROL_WORLD_H
#define TESTS_UNIT_CONTROL_WORLD_H

/*
 * Control with the cache under it, put together as by the daemon, on the fake API server, the fake
 * loop and the scripted sources. The means to tell a story: a Deployment, a ScaledObject, time that
 * passes, and the server's state afterwards.
 */

#include "cache/cache.h"
#include "control/auth/authkeeper.h"
#include "control/control.h"
#include "scalers/sources.h"

#define DEPLOYMENT(name)   "/apis/apps/v1/namespaces/default/deployments/" name
#define SCALEDOBJECT(name) "/apis/keda.sh/v1alpha1/namespaces/default/scaledobjects/" name
#define HPA(name)          "/apis/autoscaling/v2/namespaces/default/horizontalpodautoscalers/" name

struct world {
	struct loop *loop;
	struct scaler_sources sources;
	struct cache *cache;
	struct control *control;
	struct authkeeper *authkeeper;
};
extern struct world world;

/* For cmocka. The cache is synced and this process leads; nothing is there yet. */
int world_setup(void **state);
int world_teardown(void **state);

void world_lead(bool leading);
void world_restart(void); /* the process is killed and started again: all that was only in memory is gone */
/* the same, from now on in these namespaces only; borrowed */
void world_restart_watching(const char *const *only, size_t count);
void world_restart_leading(void); /* the same, and it leads from the first moment on, before it knows anything */
void world_pass(int64_t ms);

/* Deployment `name` of namespace default. */
void world_deployment(const char *name, int replicas);
/*
 * ScaledObject `name` for Deployment `name` with pollingInterval 10 and one trigger on source
 * `name`; spec: more of its fields ("'minReplicaCount':2"), which win; or "". It is made, or its
 * spec replaced.
 */
void world_scaledobject(const char *name, const char *spec);
/* Both, and the time until it is Ready and nothing more happens. */
void world_ready_object(const char *name, int replicas, const char *spec);

struct object *world_object(const char *key); /* as in the store; fails if there is none */
int world_replicas(const char *name);         /* of the Deployment */
/*
 * "True ScaledObjectReady ScaledObject is defined correctly..."; "" if absent. Valid until the next
 * call.
 */
const char *world_condition(const char *name, const char *type);
void world_expect(const char *name, const char *type, const char *begins); /* fails with its present value otherwise */
const char *world_condition_at(const char *path, const char *type); /* the same of any object that has conditions */
void world_expect_at(const char *path, const char *type, const char *begins);
double world_errors_counted(const char *name);

#endif
