/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_LOGIN_HTTPAUTH_H
#define SCALERS_LOGIN_HTTPAUTH_H

/*
 * What triggers over HTTP have in common (doc/keda.md 6.4, 6.5): URL, authentication, TLS and
 * time-out. authModes (or authMode) is a comma-separated list; each mode has its own parameters,
 * and those of other modes are ignored, as in KEDA. Differences from KEDA: `ca` applies without any
 * mode, `unsafeSsl` with every mode, custom can be combined with bearer or basic, and oauth works.
 *
 * A user and password in the URL are removed from it and sent with Basic authentication, unless a
 * mode sets other credentials.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "net/web/webaccess.h"
#include "scalers/httplogin.h"
#include "scalers/params.h"

/* What a type supports besides bearer, basic, oauth, custom and tls. */
enum {
	HTTPAUTH_API_KEY = 1, /* authModes: apiKey, with method and keyParamName */
	/*
	 * without authModes: AWS Signature 4 with awsRegion or podIdentity aws, for Amazon Managed
	 * Prometheus (scalers/login/awslogin); else a token with Google's settings, for Google's
	 * (scalers/login/googlelogin)
	 */
	HTTPAUTH_CLOUD = 2,
	/* without authModes: a username of the authentication is still sent (graphite) */
	HTTPAUTH_BASIC_UNSAID = 4,
};

/* For the tables of the types: parameters of all, and of two of the features. */
extern const struct param_table httpauth_table, httpauth_api_key_table, httpauth_cloud_table;

/* A longer request would occupy its slot at the server and keep others waiting. */
#define HTTPAUTH_TIMEOUT_MAX_MS 120000

struct httpauth {
	/*
	 * owned; scheme http or https, with a host, without user and fragment; path and query as
	 * written
	 */
	char *url;
	/* one reference; NULL only if values are unknown; its key is part of the question's key */
	struct webaccess *access;
	int64_t timeout_ms; /* 0: the process's default; also part of the question's key */
};

/*
 * Reads and checks the parameters; url: the value of parameter `name`. Returns 0, -1 with
 * ERR_INVALID that names the parameter, or 1 when some values are unknown. After 0 and 1 the caller
 * frees *out with httpauth_done; after -1 it need not.
 */
int httpauth_read(const struct scaler_params *params, const char *name, const char *url, unsigned features,
	struct httpauth *out, struct err *err);
void httpauth_done(struct httpauth *a);

/*
 * The same in a build: login->url, the parameter's value, becomes the URL without user, and the
 * rest of *login is filled in. 0, or -1 with ERR_INVALID.
 */
int httpauth_login(struct scaler_build *b, const char *name, unsigned features, struct httplogin *login,
	struct err *err);

/*
 * For a type that appends a path to the URL: cuts trailing slashes. ERR_INVALID if it has a query;
 * instead: what the user should write.
 */
int httpauth_cut_url(char *url, const char *name, const char *instead, struct err *err);

/*
 * Converts a comma-separated list of OAuth scopes to one separated by single spaces (RFC 6749,
 * 3.3). In place; NULL is fine.
 */
void httpauth_join_scopes(char *scopes);

#endif
