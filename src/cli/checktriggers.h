/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_CHECKTRIGGERS_H
#define CLI_CHECKTRIGGERS_H

/*
 * Triggers as their scalers parse them, for `kscaled check`: parameters from authentications and
 * the environment as far as the input has them, then scaler_build. No message shows a value of a
 * Secret.
 *
 * What the input does not have is unknown and not judged (scalers/params.h): a value of it, or an
 * authentication as a whole, which may have any parameter.
 */

#include "cli/findings.h"
#include "cli/offline.h"
#include "scalers/scaler.h"

struct checktriggers { /* what was built */
	struct scaler *list;
	size_t count; /* in the order of the triggers, less those that could not be built */
	bool all;     /* each was, and has a name */
};

/*
 * Of an object of either kind. Tells what is wrong to the findings. *out is the caller's, for
 * checktriggers_done.
 */
void checktriggers_run(struct offline *o, const struct scaled *of, struct findings *f, struct checktriggers *out);
void checktriggers_done(struct checktriggers *c);

/*
 * What is wrong with an authentication by itself: a key that is not in a Secret of the input, a
 * source that is refused. 0, or -1 after telling it (f NULL: to nobody).
 */
int checktriggers_authentication(struct offline *o, const struct triggerauth *t, const char *namespace_,
	struct findings *f);

#endif
