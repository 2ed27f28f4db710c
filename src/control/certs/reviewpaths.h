/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_CERTS_REVIEWPATHS_H
#define CONTROL_CERTS_REVIEWPATHS_H

/*
 * The paths at which the API server may ask for reviews: those that our webhook configuration names
 * and, for a moment, those that it named before. The API server sends no credentials to a webhook,
 * so an unguessable path authenticates it; without that anyone who reaches the port could learn
 * from verdicts what exists in any namespace. A secret path is a password: it is compared in
 * constant time and never logged. A value; the time (of the loop) is an argument.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REVIEWPATHS_SECRET "/admission/" /* secret paths begin with this; 32 hex digits follow */
#define REVIEWPATHS_SIZE   128           /* of a path with its NUL; longer ones are not answered */
#define REVIEWPATHS_MAX    16
#define REVIEWPATHS_LAG_MS 10000 /* how long an API server may use the previous configuration */

struct reviewpaths { /* zeroed: none */
	struct reviewpath {
		char text[REVIEWPATHS_SIZE]; /* "": free */
		int64_t until_ms;            /* INT64_MAX: in the present configuration */
	} list[REVIEWPATHS_MAX];
};

void reviewpaths_make(char out[REVIEWPATHS_SIZE]); /* a new secret path */
bool reviewpaths_is_secret(const char *path);      /* in the form of reviewpaths_make, or with more digits */

/*
 * After a change of the configuration: first retire, then name each of its paths (a slash at the
 * end is ignored). Paths beyond REVIEWPATHS_MAX are dropped.
 */
void reviewpaths_retire(struct reviewpaths *p, int64_t now_ms);
void reviewpaths_name(struct reviewpaths *p, const char *path);
/* The path is being written: the API server may use it before our watch shows it. */
void reviewpaths_expect(struct reviewpaths *p, const char *path, int64_t now_ms);

/* path: as sent, not terminated */
bool reviewpaths_has(const struct reviewpaths *p, const char *path, size_t len, int64_t now_ms);

#endif
