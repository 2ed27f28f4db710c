/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_IDENTITY_DISCLOSURE_H
#define NET_IDENTITY_DISCLOSURE_H

/*
 * To whom kscaled shows what stands for itself at a cloud, where that is good for more than the
 * request that carries it: a bearer's token of Azure and Google, and the token that AWS keys sign
 * for all of Amazon MSK in a region. To hosts of the vendor's for that service, reached by TLS that
 * the system's roots verify, whatever an object says; and to those that an option names. ONE
 * function decides that for all clouds and types, for servers that an object names as for those
 * that a cluster announces. Pure.
 *
 * Other signatures of AWS are good for one request at one host, and go where an object says:
 * SECURITY.md.
 */

#include <stdbool.h>

#include "base/err.h"
#include "net/identity/azurecloud.h"

enum disclosure_cloud {
	DISCLOSURE_AZURE,
	DISCLOSURE_GOOGLE, /* its monitoring and its secret manager */
	DISCLOSURE_MSK,    /* Kafka of AWS */
};

struct disclosure { /* borrowed */
	enum disclosure_cloud cloud;
	enum azurecloud_service service; /* of Azure */
	const char *region;              /* of MSK: what is shown is good there */
	const char *host;                /* "name" or "name:port" */
	bool clear;                      /* without TLS */
	bool insecure, own_ca;           /* TLS that verifies nobody, or by an authority of the object's */
	const char *trusted; /* the option: hosts, or what their names end with, "a,b"; "*": any; NULL: none */
};

/* 0, or -1 with ERR_INVALID: it is not shown there, and why. */
int disclosure_judge(const struct disclosure *d, struct err *err);

#endif
