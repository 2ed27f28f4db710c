/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_GOOGLEOWN_H
#define NET_IDENTITY_GOOGLEOWN_H

/*
 * Who kscaled itself is to Google, by its environment:
 *
 *   GOOGLE_APPLICATION_CREDENTIALS, a file with the key of a service account or of a user, or with
 *   what workload identity federation hands out (googleexternal)
 *   the machine's metadata server, which is GKE's workload identity, too, where the administrator
 *   allows it; at GCE_METADATA_HOST if that is set
 *
 * gcloud's own files are not read; keys of other types are refused by name.
 *
 * The project is CLOUDSDK_CORE_PROJECT, else what that key or server says, and comes with the
 * credential.
 *
 * The token is a bearer's: whoever has it is kscaled. So it is for Google's own servers, by TLS
 * (net/identity/disclosure), whatever an object says. Who may use it is decided above: cache/auth.
 */

#include "net/identity/identity.h"

/* scope: as of googlekey_new. Returns one reference. */
struct identity *googleown_new(const char *scope);

#endif
