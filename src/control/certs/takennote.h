/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_CERTS_TAKENNOTE_H
#define CONTROL_CERTS_TAKENNOTE_H

/*
 * The note on an APIService that was taken over from another server: an annotation that records
 * where it led and whom it trusted. Written by control/certs/apiservice and cli/join when they take
 * it, read by cli/leave when it gives it back. Pure.
 */

#include <jansson.h>

#define TAKENNOTE "kscaled.io/taken-from"

/* The note's text for an APIService as it is before the take-over. The caller owns it. */
char *takennote_make(const json_t *apiservice);

/* "namespace/name" of its former Service; NULL: it was not taken. The caller owns it. */
char *takennote_service(const json_t *apiservice);

/* The merge patch that gives it back, under its version. NULL: as above. The caller owns it. */
json_t *takennote_undo(const json_t *apiservice);

#endif
