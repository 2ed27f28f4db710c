/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_EXTERNAL_EXTERNALPUSH_H
#define SCALERS_EXTERNAL_EXTERNALPUSH_H

/*
 * The stream of an external-push trigger (doc/keda.md 8.14): result=true triggers a poll, false is
 * ignored. Opened at once; reopened 2 s after it ended, doubling to 60 s with jitter while it
 * fails; a message or a clean end resets the delay. For scalers/external: the watch functions of
 * struct scaler_type.
 */

#include "scalers/scaler.h"

void *externalpush_watch(struct scaler_sources *sources, struct question *question, question_look_fn look, void *arg);
void externalpush_unwatch(void *watch);
struct watch_report externalpush_report(const void *watch);

#endif
