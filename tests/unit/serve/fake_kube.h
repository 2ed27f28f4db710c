/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_SERVE_FAKE_KUBE_H
#define TESTS_UNIT_SERVE_FAKE_KUBE_H

/*
 * Replaces src/kube at link time: reviews and watches are kept until the test answers them. The
 * real room needs an API server.
 */

#include <stdbool.h>

#include "kube/client.h"
#include "kube/reviews.h"
#include "net/loop.h"

struct kube *fake_kube_new(struct loop *loop);
void fake_kube_free(struct kube *k);
void fake_kube_lose_contact(struct kube *k, const char *why); /* NULL: it is there again */

/* Reviews under way, oldest first; each answer ends the oldest of its kind. */
int fake_kube_token_reviews(const struct kube *k); /* under way */
int fake_kube_token_reviews_ever(const struct kube *k);
const char *fake_kube_token(const struct kube *k); /* of the oldest */
void fake_kube_answer_token(struct kube *k, const char *user /* NULL: bad token */, const char *group /* NULL: none */);
void fake_kube_fail_token(struct kube *k, enum err_kind kind, int http_status, const char *message);

int fake_kube_access_reviews(const struct kube *k);
int fake_kube_access_reviews_ever(const struct kube *k);
const char *fake_kube_access(const struct kube *k); /* of the oldest: "user verb group/version resource namespace/name"
						       (namespace "*": all), or "user verb path" */
void fake_kube_answer_access(struct kube *k, bool allowed, const char *reason);
void fake_kube_fail_access(struct kube *k, enum err_kind kind, const char *message);

/* The watch that was started last. */
const char *fake_kube_watch_path(const struct kube *k);
const char *fake_kube_watch_fields(const struct kube *k);
void fake_kube_list(struct kube *k, const char *object_json /* with ' for "; NULL: an empty list */);
void fake_kube_change(struct kube *k, const char *object_json); /* gets the watched name where it has none */
void fake_kube_delete(struct kube *k);
void fake_kube_delete_other(struct kube *k, const char *name); /* which the field selector does not ask for */
void fake_kube_trouble(struct kube *k, const char *message);

#endif
