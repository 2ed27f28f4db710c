/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_AZURE_STORAGEACCOUNT_H
#define SCALERS_AZURE_STORAGEACCOUNT_H

/*
 * A storage account of Azure as a trigger names it, and how requests to one of its services are
 * authorized: by the account's key (SharedKey), by a signature that somebody made with it (SAS),
 * both by a connection string as Azure's own libraries read it, or as kscaled itself
 * (scalers/login/azurelogin). For azure-queue and azure-blob, over scalers/http/httpsource.
 */

#include "base/err.h"
#include "net/identity/azurecloud.h"
#include "scalers/http/httpsource.h"
#include "scalers/params.h"

/* What differs between the services. */
struct storageaccount_service {
	const char *name;     /* in hosts: "queue" */
	const char *endpoint; /* in connection strings: "QueueEndpoint" */
	enum azurecloud_service service;
	const char *no_connection, *no_account; /* KEDA's words for what is missing */
	const struct param_table *login_table;  /* its fields: struct storageaccount_fields */
};

/* The parameters as written. Owns its texts. */
struct storageaccount_fields {
	char *connection, *account;
};

struct storageaccount {         /* empty when zeroed; owns its texts */
	struct httplogin login; /* url: of the service; ends with a slash */
	char *account, *key;    /* of SharedKey; the key is a secret; NULL */
	char *sas;              /* the signature's query but for "sig", which is in the login; NULL */
};

/*
 * Reads the parameters of podIdentity, cloud and endpointSuffix, and what the type has read of its
 * own: connection and account (NULL: not given). open: one of these is unknown. Returns 0; -1 with
 * ERR_INVALID that names the parameter and repeats no value of a connection string; 1 when some are
 * unknown. After 0 and 1 the caller frees *out with storageaccount_done; after -1 it need not.
 */
int storageaccount_read(const struct scaler_params *params, const struct storageaccount_service *service,
	const char *connection, const char *account, bool open, struct storageaccount *out, struct err *err);
void storageaccount_done(struct storageaccount *s);

/*
 * The same in a build, with the rows of the service's table. A type's data begins with the struct
 * storageaccount. 0, or -1 with ERR_INVALID.
 */
int storageaccount_login(struct scaler_build *b, const struct storageaccount_service *service,
	struct storageaccount *out, struct err *err);

/*
 * The request for what has this name, not encoded, and for what stands below it (more: "/messages";
 * ""), with this query (encoded; not empty), as of this time.
 */
int storageaccount_request(const struct storageaccount *s, const char *name, const char *more, const char *query,
	int64_t unix_ms, struct webrequest *out, struct err *err);

/*
 * 0 when the answer is good; else -1 with Azure's code and what it says. needed: what one must
 * have ("permission r, or role ..."), told when there is none.
 */
int storageaccount_expect(const struct webresponse *answer, const char *needed, struct err *err);

#endif
