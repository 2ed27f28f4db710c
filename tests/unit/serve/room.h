/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_SERVE_ROOM_H
#define TESTS_UNIT_SERVE_ROOM_H

/*
 * The whole room with scripted neighbours (fake_httpd below, fake_kube and fake_cache beside it),
 * for test_request and test_pages: one connection, one request at a time, and "Bearer root", the
 * token of a user who may do everything.
 */

#include <jansson.h>

#include "fake_admit.h"
#include "fake_cache.h"
#include "fake_httpd.h"
#include "fake_kube.h"
#include "serve/request.h"

#define ROOM_API      "/apis/external.metrics.k8s.io/v1beta1"
#define ROOM_SELECTOR "?labelSelector=scaledobject.keda.sh%2Fname%3Dweb"
#define ROOM_INSIGHT  "/apis/insight.kscaled.io/v1"
#define ROOM_METRIC   ROOM_API "/namespaces/shop/s0-redis-jobs"
#define ROOM_REVIEW   "/admission/6f1d0c2b8a9e4735b1c0d2e3f4a59687"
#define ROOM_REVIEWS  8

struct room {
	struct loop *loop;
	struct kube *kube;
	struct fake_cache *cache;
	struct serve serve;
	struct fake_connection connection;
	struct httpd_request last;         /* the newest request */
	const char *reviews[ROOM_REVIEWS]; /* the paths that reviews are asked for at; ROOM_REVIEW at first */
};
extern struct room room;

int room_set_up(void **state);
int room_tear_down(void **state);

struct httpd_request *room_send(enum route_port port, const char *method, const char *uri, const char *token,
	const char *header, const char *value);
/* anonymously, over the secure port */
struct httpd_request *room_post(const char *uri, const char *content_type, const char *body);
struct httpd_request *room_get(const char *uri); /* as root, over the secure port */
struct httpd_request *room_get_accepting(const char *uri, const char *accept);

/* a Status object; message: a part of it */
void room_expect_status(const struct httpd_request *r, int code, const char *reason, const char *message);
json_t *room_body(const struct httpd_request *r); /* of a 200; the caller owns it */

#endif
