/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_AZURE_STORAGEACCOUNT_H
#define SCALERS_AZURE_STORAGEACCOUNT_H

/*
 * An Azure storage account of a trigger, and how requests to its services are authorized: with the
 * account's key (SharedKey), with a shared access signature (SAS), both from a connection string as
 * Azure's libraries read it, or as kscaled itself (scalers/login/azurelogin). For azure-queue and
 * azure-blob, over scalers/http/httpsource.
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
	const char *no_connection, *no_account; /* KEDA's texts for missing parameters */
	const struct param_table *login_table;  /* its fields: struct storageaccount_fields */
};

/* The parameters as written. Owns its texts. */
struct storageaccount_fields {
	char *connection, *account;
};

struct storageaccount {         /* empty when zeroed; owns its texts */
	struct httplogin login; /* url: of the service, with a trailing slash */
	char *account, *key;    /* for SharedKey; the key is a secret; NULL */
	char *sas;              /* the SAS query without "sig", which is in the login; NULL */
};

/*
 * Reads podIdentity, cloud and endpointSuffix, with the type's connection and account (NULL: not
 * given). open: one of these is unknown. Returns 0; -1 with ERR_INVALID that names the parameter
 * and does not quote a connection string; 1 when some are unknown. After 0 and 1 the caller frees
 * *out with storageaccount_done; after -1 it need not.
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
 * Makes a request for the container or queue with this name (not encoded) and a path below it
 * (more: "/messages"; ""), with this query (encoded; not empty), signed for this time.
 */
int storageaccount_request(const struct storageaccount *s, const char *name, const char *more, const char *query,
	int64_t unix_ms, struct webrequest *out, struct err *err);

/*
 * 0 if the status is 200; else -1 with Azure's code and message. needed: the permission
 * ("permission r, or role ..."), for 401 and 403.
 */
int storageaccount_expect(const struct webresponse *answer, const char *needed, struct err *err);

#endif
