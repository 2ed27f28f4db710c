/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_SERVE_FAKE_SERVE_H
#define TESTS_UNIT_SERVE_FAKE_SERVE_H

/*
 * What serve_new makes, without the listeners: the test gives requests to request_start, and the
 * rooms below are fakes. Used by room and by tests/fuzz/fuzz_requests.
 */

#include "serve/parts.h"

/* Into any struct. asks_for_reviews_at: as serve_config has it, with the argument NULL. */
void fake_serve_start(struct serve *s, struct kube *kube, struct cache *cache,
	bool (*asks_for_reviews_at)(const void *arg, const char *path, size_t len));
void fake_serve_end(struct serve *s); /* when no request waits any more */

#endif
