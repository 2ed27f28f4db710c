/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_BEANSTALK_BEANSTALK_H
#define NET_BEANSTALK_BEANSTALK_H

/*
 * Statistics of beanstalkd's tubes through net/pool: one connection per server, on which questions
 * are pipelined. The protocol has no login and no TLS.
 */

#include <stdint.h>

#include "base/err.h"
#include "net/beanstalk/tubestats.h"
#include "net/endpoint.h"
#include "net/pool.h"

struct pool *beanstalk_new(struct loop *loop); /* freed by pool_free */

/*
 * server: "host:port", "[v6]:port". Returns one reference, or NULL with ERR_INVALID, which does not
 * name the parameter.
 */
struct endpoint *beanstalk_endpoint(const char *namespace_, const char *server, struct err *err);

/*
 * Either stats or err, borrowed. Called exactly once, never before beanstalk_ask has returned,
 * never after pool_cancel.
 */
typedef void (*beanstalk_fn)(void *arg, const struct tubestats *stats, const struct err *err);

/* tube: without a tubestats_name_flaw. Fails at deadline_ms (loop clock). */
struct pool_call *beanstalk_ask(struct pool *p, struct endpoint *e, const char *tube, int64_t deadline_ms,
	beanstalk_fn fn, void *arg);

#endif
