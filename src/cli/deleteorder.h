/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DELETEORDER_H
#define CLI_DELETEORDER_H

/*
 * The order in which to delete the objects of `kscaled manifests`. Called by cli/manifests. Pure.
 *
 * First what would block others without kscaled: the API server calls the webhook at each write,
 * and an APIService without its server blocks deletions of namespaces. Then the CRDs, while kscaled
 * still runs and removes its finalizers. Then kscaled, its Service, its rights, and last the
 * namespace.
 */

#include <stdio.h>

/* text: YAML documents, each after a line "---". Those of one kind keep their order. */
void deleteorder_print(const char *text, FILE *out);

#endif
