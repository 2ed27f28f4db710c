/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SERVE_ACCEPT_H
#define SERVE_ACCEPT_H

/* Which of several forms of an answer a client wants, by its Accept header. Pure. */

/*
 * The index of the first offer that the header names, in the header's order (a q of 0 refuses,
 * other weights are not looked at); -1 when none fits. Offers are written without spaces, ended by
 * NULL; the order of their parameters says nothing. The first is the usual form: no header, an
 * empty one and wildcards get it.
 */
int accept_choose(const char *header, const char *const *offers);

#endif
