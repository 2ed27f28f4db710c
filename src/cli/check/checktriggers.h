/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CHECK_CHECKTRIGGERS_H
#define CLI_CHECK_CHECKTRIGGERS_H

/*
 * Checks triggers by the parsers of their scalers, for `kscaled check`: takes parameters from
 * authentications and the environment as far as the input has them, then calls scaler_build. What
 * the input lacks, a value or a whole authentication, is unknown and not checked
 * (scalers/params.h). No message shows a value of a Secret.
 */

#include "cli/check/findings.h"
#include "cli/check/offline.h"
#include "scalers/scaler.h"

struct checktriggers { /* the scalers that were built */
	struct scaler *list;
	size_t count; /* in the order of the triggers, without those that could not be built */
	bool all;     /* each trigger was built, and its metric has a name */
};

/* Adds the findings to f. The caller owns *out, which checktriggers_done frees. */
void checktriggers_run(struct offline *o, const struct scaled *of, struct findings *f, struct checktriggers *out);
void checktriggers_done(struct checktriggers *c);

/*
 * Checks an authentication, otherwise valid, against kscaled's options (struct offline_rules): a
 * refusal is a problem if these are given, else a warning.
 */
void checktriggers_allowed(struct offline *o, const struct triggerauth *t, struct findings *f);

/*
 * Checks an authentication by itself: keys that a Secret in the input lacks, sources that are
 * refused. 0, or -1 after adding the problem to f, which may be NULL.
 */
int checktriggers_authentication(struct offline *o, const struct triggerauth *t, const char *namespace_,
	struct findings *f);

#endif
