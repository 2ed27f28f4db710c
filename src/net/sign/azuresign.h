/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_SIGN_AZURESIGN_H
#define NET_SIGN_AZURESIGN_H

/*
 * Azure's signatures with a shared key: SharedKey of a Storage account (blobs, queues), and the
 * tokens of Service Bus and Event Hubs. Pure.
 */

#include <stdint.h>

#include "base/err.h"
#include "base/strmap.h"

struct azuresign_request { /* borrowed */
	const char *method;
	const char *path;  /* as in the request line, without the query; "" is "/" */
	const char *query; /* the same, without '?', encoded; NULL: none */
	/*
	 * all that are sent, with x-ms-date and x-ms-version; a Content-Length of 0 may be missing
	 */
	const struct strmap *headers;
};

/*
 * The text that SharedKey signs; the caller owns it. If the path begins with the account's name
 * (Azurite), the account appears twice in it, as the server expects.
 */
char *azuresign_text(const struct azuresign_request *request, const char *account);

/*
 * "SharedKey ACCOUNT:SIGNATURE", for Authorization; the caller owns it. key: base64, as in the
 * portal. NULL with ERR_INVALID: not base64.
 */
char *azuresign_shared_key(const struct azuresign_request *request, const char *account, const char *key,
	struct err *err);

/*
 * "SharedAccessSignature sr=...&sig=...&se=...&skn=...", for Authorization, valid until
 * until_unix_s; the caller owns it (a secret). url: the resource
 * ("https://ns.servicebus.windows.net/queue").
 */
char *azuresign_token(const char *url, const char *key_name, const char *key, int64_t until_unix_s);

#endif
