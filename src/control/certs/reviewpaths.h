/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_CERTS_REVIEWPATHS_H
#define CONTROL_CERTS_REVIEWPATHS_H

/*
 * The paths at which the API server may ask for reviews: those that our webhook configuration
 * names, and for a moment those that it named before. The API server sends no credentials to a
 * webhook, so a path that nobody can guess authenticates it; without that everybody who reaches the
 * port could learn from verdicts what exists in any namespace. A secret path is a password: it is
 * compared in constant time and never logged. A value; the time (of the loop) is an argument.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REVIEWPATHS_SECRET "/admission/" /* secret paths begin so; 32 hex digits follow */
#define REVIEWPATHS_SIZE   128           /* of a path with its NUL; longer ones are not answered */
#define REVIEWPATHS_MAX    16
#define REVIEWPATHS_LAG_MS 10000 /* so long an API server may use the configuration before */

struct reviewpaths { /* zero-initialised: none */
	struct reviewpath {
		char text[REVIEWPATHS_SIZE]; /* "": free */
		int64_t until_ms;            /* INT64_MAX: named now */
	} list[REVIEWPATHS_MAX];
};

void reviewpaths_make(char out[REVIEWPATHS_SIZE]); /* a new secret path */
bool reviewpaths_is_secret(const char *path);      /* as reviewpaths_make makes it, or with more digits */

/*
 * When the configuration has changed: first retire, then name each of its paths (a slash at the end
 * is ignored). Paths beyond REVIEWPATHS_MAX are dropped.
 */
void reviewpaths_retire(struct reviewpaths *p, int64_t now_ms);
void reviewpaths_name(struct reviewpaths *p, const char *path);
/* It is being written: the API server may use it before our watch shows it. */
void reviewpaths_expect(struct reviewpaths *p, const char *path, int64_t now_ms);

/* path: as it was sent, not terminated */
bool reviewpaths_has(const struct reviewpaths *p, const char *path, size_t len, int64_t now_ms);

#endif
