/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_SIGN_SIGV4_H
#define NET_SIGN_SIGV4_H

/*
 * AWS Signature Version 4: the Authorization header of a request, or the query of a presigned URL.
 * Pure. The sender (net/web/webclient, net/identity for STS) must send exactly what was signed:
 * sigv4_query's query and the given headers.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/sign/hmac.h"

struct sigv4_header {
	const char *name, *value; /* any case; blanks are folded */
};

/* Borrowed. */
struct sigv4_request {
	const char *method;
	const char *path;  /* as in the request line, without the query; "" is "/" */
	const char *query; /* as in the request line, without '?'; NULL: none */
	/* all headers to sign: Host, and X-Amz-Date unless presigned */
	const struct sigv4_header *headers;
	size_t header_count;
	const char *body; /* NULL: none */
	size_t body_len;
	/*
	 * S3: paths are neither normalised nor encoded twice, and a presigned URL allows any body
	 */
	bool is_s3;
};

/*
 * The signing key of one day, region and service; deriving it is the main cost of a signature.
 * Empty when zeroed. Its owner keeps it for a single sigv4_key, and wipes it.
 */
struct sigv4_day {
	char date[8]; /* "20150830" */
	uint8_t key[HMAC_SIZE];
};

struct sigv4_key {
	const char *region, *service; /* "eu-west-1", "sqs" */
	const char *key_id, *secret;
	struct sigv4_day *day;     /* cache for this very key, updated here; NULL: none */
	const char *session_token; /* for presigned URLs only (otherwise a header, X-Amz-Security-Token); NULL: none */
};

/* "20150830T123600Z", for X-Amz-Date; returns out. */
#define SIGV4_TIME_TEXT 17
char *sigv4_time(int64_t unix_s, char out[SIGV4_TIME_TEXT]);

/* The Authorization header's value, which the caller owns. */
char *sigv4_authorization(const struct sigv4_request *request, const struct sigv4_key *key, int64_t unix_s);

/*
 * The query, without '?', of a presigned URL that is valid for good_for_s; the caller owns it (a
 * secret while it is valid).
 */
char *sigv4_presigned(const struct sigv4_request *request, const struct sigv4_key *key, int64_t unix_s,
	int64_t good_for_s);

/*
 * The query sorted and encoded as AWS requires, which the caller owns. Send this one, as servers
 * may decode another one differently. '+' is a blank, as in forms. NULL gives "".
 */
char *sigv4_query(const char *query);

#endif
