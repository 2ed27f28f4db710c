/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_AZURE_BUSCONNECTION_H
#define SCALERS_AZURE_BUSCONNECTION_H

/*
 * Connection strings of Azure Service Bus, as the portal shows them and Microsoft's Go client reads
 * them ("Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=scaler;
 * SharedAccessKey=...;EntityPath=orders"). Pure.
 */

#include "base/err.h"

/* Owns its texts. Empty when zeroed. */
struct busconnection {
	char *host;           /* as in a URL: "shop.servicebus.windows.net", "localhost:8443" */
	char *key_name, *key; /* of a policy; NULL with a signature */
	char *signature;      /* "SharedAccessSignature sr=...", ready to send; takes precedence over a key; NULL */
	char *entity_path;    /* the policy's entity; NULL: the namespace, or not given */
};

/* 0, or -1 with ERR_INVALID, which quotes no value. */
int busconnection_parse(const char *text, struct busconnection *out, struct err *err);
void busconnection_done(struct busconnection *c); /* wipes */

#endif
