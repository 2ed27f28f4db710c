/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_DISCLOSURE_H
#define NET_IDENTITY_DISCLOSURE_H

/*
 * Decides to which servers kscaled shows its own cloud tokens, where a token is good for more than
 * one request: bearer tokens of Azure and Google, and the signed token for Amazon MSK, which is
 * good for all of MSK in a region. Only to the vendor's own hosts of that service, over TLS
 * verified by the system's roots, and to hosts that an option allows; an object cannot widen this.
 * ONE function decides for all clouds and types, both for servers that an object names and for
 * those that a cluster announces. Pure.
 *
 * Other AWS signatures are good for one request to one host and go wherever an object says:
 * SECURITY.md.
 */

#include <stdbool.h>

#include "base/err.h"
#include "net/identity/azurecloud.h"

enum disclosure_cloud {
	DISCLOSURE_AZURE,
	DISCLOSURE_GOOGLE, /* Cloud Monitoring and Secret Manager */
	DISCLOSURE_MSK,    /* Amazon MSK (Kafka) */
};

struct disclosure { /* borrowed */
	enum disclosure_cloud cloud;
	enum azurecloud_service service; /* of Azure */
	const char *region;              /* of MSK: where the token is valid */
	const char *host;                /* "name" or "name:port" */
	bool clear;                      /* without TLS */
	bool insecure, own_ca;           /* TLS without verification, or with the object's own CA */
	const char *trusted;             /* the option: hosts or domains, "a,b"; "*": any; NULL: none */
};

/*
 * Sets host and clear by a URL. Returns the host's text, which the caller owns; NULL with
 * ERR_INVALID.
 */
char *disclosure_take_url(struct disclosure *d, const char *url, struct err *err);

/* 0: may be shown; -1 with ERR_INVALID: why not. */
int disclosure_check(const struct disclosure *d, struct err *err);

#endif
