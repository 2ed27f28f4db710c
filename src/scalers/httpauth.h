/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_HTTPAUTH_H
#define SCALERS_HTTPAUTH_H

/*
 * What the triggers that ask over HTTP have in common (keda-scalers.md C.5, C.6): where, as whom
 * and for how long. authModes (or authMode) is a comma-separated list; each mode has its
 * parameters, and those of a mode that is not on are ignored, as in KEDA. Not as in KEDA: `ca`
 * counts without any mode, `unsafeSsl` with every mode, custom goes together with bearer or basic,
 * oauth works.
 *
 * A user and password in the URL are taken out of it and sent as Basic, unless a mode says who we
 * are.
 */

#include <stdint.h>

#include "base/err.h"
#include "net/web/webaccess.h"
#include "scalers/params.h"
#include "scalers/scaler.h"

/* What a type knows beside bearer, basic, oauth, custom, tls. */
enum {
	HTTPAUTH_API_KEY = 1, /* authModes: apiKey, with method and keyParamName */
	/*
	 * without authModes: AWS Signature 4 by static keys, for Amazon Managed Prometheus; what
	 * needs an identity of a cloud is refused by name
	 */
	HTTPAUTH_CLOUD = 2,
};

/* For the tables of the types: of all of them, and by what they know beside. */
extern const struct param_table httpauth_table, httpauth_api_key_table, httpauth_cloud_table;

/* A request that is waited for longer keeps its place at the server from those of others. */
#define HTTPAUTH_TIMEOUT_MAX_MS 120000

struct httpauth {
	/* owned; http or https, host, no user, no fragment; path and query as they were written */
	char *url;
	struct webaccess *access; /* one count; NULL only where values are unknown: its key goes into the question's */
	int64_t timeout_ms;       /* 0: the process's default; also goes into the question's key */
};

/*
 * url: the text of the parameter `name`. 0, or -1 and ERR_INVALID that names the parameter; 1: some
 * values are unknown. *out is to be freed by httpauth_done then, not after -1.
 */
int httpauth_read(const struct scaler_params *params, const char *name, const char *url, unsigned features,
	struct httpauth *out, struct err *err);
void httpauth_done(struct httpauth *a);

#endif
