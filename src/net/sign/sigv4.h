/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_SIGN_SIGV4_H
#define NET_SIGN_SIGV4_H

/*
 * AWS Signature Version 4: the Authorization header of a request, or the query of a presigned URL.
 * Pure functions: the time is a parameter, nothing is sent. Who sends the request
 * (net/web/webclient, net/identity for STS) sends exactly what was signed: the query that
 * sigv4_query makes and the headers that it gave.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "net/sign/hmac.h"

struct sigv4_header {
	const char *name, *value; /* in any case; blanks are folded */
};

/* Borrowed. */
struct sigv4_request {
	const char *method;
	const char *path;  /* as in the request line, without the query; "" is "/" */
	const char *query; /* as in the request line, without '?'; NULL: none */
	/* all that are to be signed, Host among them; X-Amz-Date too, unless it is presigned */
	const struct sigv4_header *headers;
	size_t header_count;
	const char *body; /* NULL: none */
	size_t body_len;
	/*
	 * its paths are neither normalised nor encoded a second time, and a presigned URL is for
	 * any body
	 */
	bool is_s3;
};

/*
 * What is derived from a secret for one day, region and service: the most of what a signature
 * costs. Zeroed: nothing yet. Owned, and wiped, by who keeps it for one such key.
 */
struct sigv4_day {
	char date[8]; /* "20150830" */
	uint8_t key[HMAC_SIZE];
};

struct sigv4_key {
	const char *region, *service; /* "eu-west-1", "sqs" */
	const char *key_id, *secret;
	struct sigv4_day *day;     /* of this very key, used and kept up to date; NULL: each time anew */
	const char *session_token; /* presigned only: else it is a header, X-Amz-Security-Token; NULL: none */
};

/* "20150830T123600Z", for X-Amz-Date; returns out. */
#define SIGV4_TIME_TEXT 17
char *sigv4_time(int64_t unix_s, char out[SIGV4_TIME_TEXT]);

/* The value of the header Authorization, which the caller owns. */
char *sigv4_authorization(const struct sigv4_request *request, const struct sigv4_key *key, int64_t unix_s);

/*
 * The query of a URL that is good for so many seconds, without '?', with its signature; the caller
 * owns it (a secret while it lasts).
 */
char *sigv4_presigned(const struct sigv4_request *request, const struct sigv4_key *key, int64_t unix_s,
	int64_t good_for_s);

/*
 * A query as AWS sorts and encodes it, which the caller owns; also what is to be sent, as two
 * servers may read an unencoded one in two ways. '+' is a blank, as in forms. NULL gives "".
 */
char *sigv4_query(const char *query);

#endif
