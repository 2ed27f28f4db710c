/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_FAKES_FAKECLUSTER_PARTS_H
#define TESTS_UNIT_FAKES_FAKECLUSTER_PARTS_H

/* What the four files of the fake API server say to each other. */

#include "fakecluster.h"

struct loop *fakecluster_loop(void);

/*
 * fakecluster.c: the server's side of a call. *answer is owned by the caller; path without its
 * query, but for a list.
 */
int fakecluster_do(enum kube_verb verb, const char *path, const json_t *body, json_t **answer, struct err *err);
void fakecluster_each(void (*fn)(void *arg, const char *path, json_t *object), void *arg);
char *fakecluster_version(void);             /* of the newest change; the caller owns it */
json_t *fakecluster_parse(const char *text); /* ' for " */

/* fakewatch.c */
void fakewatch_start(void);
void fakewatch_end(void);
void fakewatch_tell(const char *path, json_t *before, json_t *now); /* NULL: it was not there; is not there any more */

/* fakelist.c: path with its query */
int fakelist_do(const char *path, json_t **answer);

/* fakeapi.c */
void fakeapi_start(void);
void fakeapi_end(void);
int fakeapi_error(struct err *err, int http_status, const char *what); /* -1 */

#endif
