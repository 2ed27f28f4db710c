/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_JOIN_SNAPSHOT_H
#define CLI_JOIN_SNAPSHOT_H

/*
 * What worked before `kscaled join` changes it, so that a new way that leads nowhere leaves the
 * host as it was: the objects that it will apply or delete, and this host's files. Blocks, as
 * cli/host/cluster.
 */

#include "cli/documents.h"
#include "cli/host/cluster.h"
#include "cli/host/hostfiles.h"

struct snapshot;

/*
 * wanted: what is about to be applied. NULL: nothing worked, so there is nothing to put back: no
 * kscaled was reached through the API server, or what is there cannot be read.
 */
struct snapshot *snapshot_take(struct cluster *c, const struct documents *wanted, const struct hostfiles *f);
void snapshot_free(struct snapshot *b); /* NULL is fine */

/*
 * The way that worked, "HOST:PORT", as its Service and EndpointSlice have it; NULL: it was of
 * another Service. Borrowed.
 */
const char *snapshot_host(const struct snapshot *b);

/*
 * Puts back all objects but those of the way, which whoever applies one knows to replace, and the
 * files. What was not there goes; namespaces and kinds stay. The first error, after which it goes
 * on.
 */
int snapshot_restore(const struct snapshot *b, struct err *err);

#endif
