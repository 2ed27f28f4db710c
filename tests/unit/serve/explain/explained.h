/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_SERVE_EXPLAIN_EXPLAINED_H
#define TESTS_UNIT_SERVE_EXPLAIN_EXPLAINED_H

/*
 * Gives the room (room.h) objects as JSON with ' for ", and reads the insight API's answers about
 * them.
 */

#include <jansson.h>

#include "../room.h"

#define CONDITION(type, status, reason, message)                                                                       \
	"{'type':'" type "','status':'" status "','reason':'" reason "','message':'" message "'}"

struct scaledobject *given(const char *quoted);  /* the ScaledObject from now on; the caller frees it */
struct scaledjob *given_job(const char *quoted); /* the same of the ScaledJob */

#define OBJECTS "/namespaces/shop/scaledobjectinsights"
#define JOBS    "/namespaces/shop/scaledjobinsights"
struct httpd_request *ask(const char *path); /* below the group's, over the Unix socket */
json_t *ask_explanation(const char *path);   /* of one; the caller owns it */

/* A member by its path: "target.replicas", "triggers.0.value". NULL when it is absent or null. */
const json_t *at(const json_t *object, const char *path);
bool has(const json_t *object, const char *path); /* it is there, if only as null */
void expect_text(const json_t *object, const char *path, const char *text);
void expect_int(const json_t *object, const char *path, int value);

#endif
