/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_GOOGLEOWN_H
#define NET_IDENTITY_GOOGLEOWN_H

/*
 * kscaled's own Google identity, from the first of these:
 *
 *   GOOGLE_APPLICATION_CREDENTIALS: a file with the key of a service account or of a user, or with
 *   a configuration of workload identity federation (googleexternal)
 *   the metadata server, which is also that of GKE's workload identity, if the administrator allows
 *   it; at GCE_METADATA_HOST if that is set
 *
 * gcloud's own files are not read; keys of other types are refused by name. The project is
 * CLOUDSDK_CORE_PROJECT, else the key's or the metadata server's; it comes with the credential.
 *
 * Whoever holds the bearer token is kscaled, so it goes only to Google's own servers, over TLS
 * (net/identity/disclosure). cache/auth decides who may use it.
 */

#include "net/identity/identity.h"

/* scope: as in googlekey_new. Returns one reference. */
struct identity *googleown_new(const char *scope);

#endif
