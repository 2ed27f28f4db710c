/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_AZURE_BUSCONNECTION_H
#define SCALERS_AZURE_BUSCONNECTION_H

/*
 * Connection strings of Azure Service Bus, as its portal shows them and Microsoft's client for Go
 * reads them ("Endpoint=sb://shop.servicebus.windows.net/;SharedAccessKeyName=scaler;
 * SharedAccessKey=...;EntityPath=orders"). Pure.
 */

#include "base/err.h"

/* Owns its texts. Empty when zeroed. */
struct busconnection {
	char *host;           /* as it stands in a URL: "shop.servicebus.windows.net", "localhost:8443" */
	char *key_name, *key; /* of a policy; NULL: a signature is given */
	char *signature;      /* "SharedAccessSignature sr=...", ready to be sent; NULL; it goes before a key */
	char *entity_path;    /* the entity that the policy is of; NULL: the namespace's, or it is not said */
};

/* 0, or -1 with ERR_INVALID, which quotes no value. */
int busconnection_parse(const char *text, struct busconnection *out, struct err *err);
void busconnection_done(struct busconnection *c); /* wipes */

#endif
