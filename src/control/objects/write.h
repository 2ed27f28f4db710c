/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_OBJECTS_WRITE_H
#define CONTROL_OBJECTS_WRITE_H

/*
 * The write that a reconcile has under way for an object, one at a time. Its answer leads to the
 * next reconcile, a failure to one after a back-off.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "kube/client.h"

struct work;

void write_init(struct work *work);
void write_done(struct work *work); /* after write_stop */

typedef void (*write_answer_fn)(struct work *work, const json_t *object);
typedef bool (*write_failure_fn)(struct work *work, const struct err *err); /* true: handled, no back-off */
/* The message of a failure starts with `doing`. */
void write_start(struct work *work, const struct kube_request *request, const char *doing, write_answer_fn on_success,
	write_failure_fn on_failure);
bool write_must_wait(struct work *work);     /* true while a failed write backs off; its end leads to a reconcile */
bool write_is_news(const struct work *work); /* whether the failure is to be reported: not a passing conflict */
void write_forgive(struct work *work);       /* ends the back-off: the failure concerned something else */
/* Keeps an error that came from no answer like that of a write, with its back-off. NULL: none. */
void write_keep_error(struct work *work, const struct err *err);
/* Counts a failure that another try fixes at once; true unless there were too many in a row. */
bool write_try_at_once(struct work *work, unsigned most);
void write_again(struct work *work, int64_t delay_ms); /* another reconcile in delay_ms */
void write_stop(struct work *work);

#endif
