/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_KEYDATA_H
#define CRD_KEYDATA_H

/*
 * The data of a Secret or ConfigMap, or the annotations of a ServiceAccount, reduced to the wanted
 * keys while decoding. Values of Secrets are base64-encoded; every buffer that held one is wiped
 * when freed.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strmap.h"

enum keydata_kind { KEYDATA_SECRET, KEYDATA_CONFIG_MAP, KEYDATA_SERVICE_ACCOUNT };

const char *keydata_kind_name(enum keydata_kind kind);  /* "Secret", "ConfigMap", "ServiceAccount" */
const char *keydata_plural(enum keydata_kind kind);     /* the plural in API paths: "secrets" */
const char *keydata_key_called(enum keydata_kind kind); /* "key", "annotation" */

/*
 * Decodes into *out, which is empty before and the caller's (strmap_done_secret). wanted NULL: all
 * keys. A ConfigMap's binaryData is not read. A value that is not text (a NUL, invalid base64) is
 * left out; *unreadable then has its key with the reason, which never quotes the value. -1 and
 * ERR_INVALID: not an object, invalid data, or too many keys.
 */
int keydata_decode(enum keydata_kind kind, const json_t *object, bool (*wanted)(void *arg, const char *key), void *arg,
	struct strmap *out, struct strmap *unreadable, struct err *err);

#endif
