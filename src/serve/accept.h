/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_ACCEPT_H
#define SERVE_ACCEPT_H

/* Content negotiation: which of several forms a client wants, by its Accept header. Pure. */

/*
 * The index of the first offer that the header names, in the header's order (q=0 refuses one; other
 * weights are ignored); -1 if none fits. Offers are NULL-terminated and written without spaces; the
 * order of their parameters does not matter. The first is the default, for no header, an empty one
 * and wildcards.
 */
int accept_choose(const char *header, const char *const *offers);

#endif
