/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_CERTS_TAKENNOTE_H
#define CONTROL_CERTS_TAKENNOTE_H

/*
 * The note on an APIService that was another server's and was taken over: an annotation that says
 * where it led and whom it trusted. Put there by who takes it (control/certs/apiservice, cli/join),
 * read by who gives it back (cli/leave). Pure.
 */

#include <jansson.h>

#define TAKENNOTE "kscaled.io/taken-from"

/* Its text for an APIService, as it stands before it is taken. The caller owns it. */
char *takennote_make(const json_t *apiservice);

/* "namespace/name" of its Service of before; NULL: it was not taken. The caller owns it. */
char *takennote_service(const json_t *apiservice);

/* The merge patch that gives it back, under its version. NULL: as above. The caller owns it. */
json_t *takennote_undo(const json_t *apiservice);

#endif
