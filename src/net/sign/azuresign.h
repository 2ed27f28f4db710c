/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_SIGN_AZURESIGN_H
#define NET_SIGN_AZURESIGN_H

/*
 * Azure's signatures by a shared key: SharedKey of a Storage account (blobs, queues), and the
 * tokens of Service Bus and Event Hubs. Pure functions: the time is a parameter or among the
 * headers, nothing is sent.
 */

#include <stdint.h>

#include "base/err.h"
#include "base/strmap.h"

struct azuresign_request { /* borrowed */
	const char *method;
	const char *path;  /* as in the request line, without the query; "" is "/" */
	const char *query; /* the same, without '?', encoded; NULL: none */
	/*
	 * all that are sent: x-ms-date and x-ms-version among them. Content-Length need not be, if
	 * it is 0
	 */
	const struct strmap *headers;
};

/*
 * What SharedKey signs, for the account; the caller owns it. With an endpoint whose path begins
 * with the account's name (Azurite) the account stands in it twice, as the server has it.
 */
char *azuresign_text(const struct azuresign_request *request, const char *account);

/*
 * "SharedKey ACCOUNT:SIGNATURE", for Authorization; the caller owns it. key: base64, as the portal
 * shows it. NULL with ERR_INVALID: it is not base64.
 */
char *azuresign_shared_key(const struct azuresign_request *request, const char *account, const char *key,
	struct err *err);

/*
 * "SharedAccessSignature sr=...&sig=...&se=...&skn=...", for Authorization, good until
 * until_unix_s; the caller owns it (a secret). url: what it opens
 * ("https://ns.servicebus.windows.net/queue").
 */
char *azuresign_token(const char *url, const char *key_name, const char *key, int64_t until_unix_s);

#endif
