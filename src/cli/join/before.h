/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_JOIN_BEFORE_H
#define CLI_JOIN_BEFORE_H

/*
 * What worked before `kscaled join` changes it, so that a new way that leads nowhere leaves the
 * host as it was: the objects that it will apply or delete, and this host's files. Blocks, as
 * cli/host/cluster.
 */

#include "cli/documents.h"
#include "cli/host/cluster.h"
#include "cli/host/hostfiles.h"

struct before;

/*
 * wanted: what is about to be applied. NULL: nothing worked, so there is nothing to put back: no
 * kscaled was reached through the API server, or what is there cannot be read.
 */
struct before *before_take(struct cluster *c, const struct documents *wanted, const struct hostfiles *f);
void before_free(struct before *b); /* NULL is fine */

/*
 * The way that worked, "HOST:PORT", as its Service and EndpointSlice have it; NULL: it was of
 * another Service. Borrowed.
 */
const char *before_way(const struct before *b);

/*
 * Puts back all objects but those of the way, which whoever applies one knows to replace, and the
 * files. What was not there goes; namespaces and kinds stay. The first error, after which it goes
 * on.
 */
int before_put_back(const struct before *b, struct err *err);

#endif
