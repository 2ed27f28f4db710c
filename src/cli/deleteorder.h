/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DELETEORDER_H
#define CLI_DELETEORDER_H

/*
 * The order in which what `kscaled manifests` prints is to be deleted. Called by cli/manifests.
 * Pure: knows kinds, and no cluster.
 *
 * First what others wait for while kscaled goes: the API server asks the webhook at each write, and
 * an APIService without its server makes every deletion of a namespace wait, as all APIs are asked
 * for what is in it. Then the kinds, while kscaled runs and may take its finalizers away. Then
 * kscaled, what it was reached by, what it was allowed, and last the namespace.
 */

#include <stdio.h>

/* text: YAML documents, each behind a line "---". Those of one kind keep their order. */
void deleteorder_print(const char *text, FILE *out);

#endif
