/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_JOIN_SNAPSHOT_H
#define CLI_JOIN_SNAPSHOT_H

/*
 * The working state before `kscaled join` changes it: the objects that it will apply or delete, and
 * this host's files. Restored if the API server does not reach the host by the new address. Blocks,
 * as cli/host/cluster.
 */

#include "cli/documents.h"
#include "cli/host/cluster.h"
#include "cli/host/hostfiles.h"

struct snapshot;

/*
 * wanted: the objects to be applied. NULL: nothing to restore: the API server did not reach
 * kscaled, or the state cannot be read.
 */
struct snapshot *snapshot_take(struct cluster *c, const struct documents *wanted, const struct hostfiles *f);
void snapshot_free(struct snapshot *b); /* NULL is fine */

/*
 * The working address, "HOST:PORT", from the Service and its EndpointSlice; NULL: another
 * Service's. Borrowed.
 */
const char *snapshot_host(const struct snapshot *b);

/*
 * Restores the files and all objects except those that hold the address, which the caller applies
 * again. Deletes objects that did not exist, but not namespaces and CRDs. Continues after an error
 * and returns the first.
 */
int snapshot_restore(const struct snapshot *b, struct err *err);

#endif
