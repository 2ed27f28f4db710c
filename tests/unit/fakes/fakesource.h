/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_FAKES_FAKESOURCE_H
#define TESTS_UNIT_FAKES_FAKESOURCE_H

/*
 * Stands in for scalers/registry.c at link time: the trigger type cpu, which asks nobody, and
 * "scripted", whose sources answer, fail and hang as a test says. A fake, because no real source
 * can be made to do that at given moments. Parameters: `source` (sourceFromEnv, or from a
 * TriggerAuthentication) names what is asked, `threshold` is the target (5), `activation` the
 * activation threshold (0). "leaving" is the same and deprecated.
 */

#include "scalers/scaler.h"

void fakesource_start(void);
void fakesource_end(void); /* fails when a question is under way */

/* From now on: */
void fakesource_answer(const char *source, double value); /* at first all answer 0 */
void fakesource_fail(const char *source, const char *message);
void fakesource_rest(const char *source, int64_t ms); /* its answers ask to be left alone for so long; at first 0 */
void fakesource_hang(const char *source);             /* until the query's deadline */
/*
 * Of the type "telling", whose sources name their metrics: "queue:5,load:2" with whole targets;
 * NULL: it fails.
 */
void fakesource_describe(const char *source, const char *metrics);
unsigned fakesource_described(const char *source); /* how often it was asked for them */

/* Push: every source can be watched, and its report is "on" until another is told. */
unsigned fakesource_watched(const char *source); /* how many watch it */
unsigned fakesource_watches_begun(void);         /* so far, over all */
void fakesource_look(const char *source);        /* it says "look now" */
void fakesource_report(const char *source, enum watch_state state, const char *why, bool tell);

unsigned fakesource_asked(const char *source); /* so far; NULL: all sources */

#endif
