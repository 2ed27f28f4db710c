/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CRD_KEYDATA_H
#define CRD_KEYDATA_H

/*
 * The data of a Secret or a ConfigMap, projected to the keys that somebody asked for: everything
 * else is dropped while decoding. Values of Secrets come base64-encoded and are wiped when freed,
 * like all that passed on the way.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/err.h"
#include "base/strmap.h"

enum keydata_kind { KEYDATA_SECRET, KEYDATA_CONFIG_MAP };

const char *keydata_kind_name(enum keydata_kind kind); /* "Secret", "ConfigMap" */

/*
 * Into *out (empty before, the caller's; strmap_done_secret it). wanted NULL: all keys; a
 * ConfigMap's binaryData is not read. A value that is not text (NUL inside, invalid base64) is left
 * out and its key goes into *unreadable with the reason; neither names the value.
 */
int keydata_decode(enum keydata_kind kind, const json_t *object, bool (*wanted)(void *arg, const char *key), void *arg,
	struct strmap *out, struct strmap *unreadable, struct err *err);

#endif
