/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CONTROL_CERTS_REVIEWPATHS_H
#define CONTROL_CERTS_REVIEWPATHS_H

/*
 * The paths at which the API server may ask for reviews: those that our webhook configuration
 * names, and for a moment those that it named before. The API server shows no credentials to a
 * webhook, so a path that nobody can guess is what tells it from strangers: whoever else reaches
 * the port learns from verdicts what there is in any namespace. A secret path is a password: it is
 * compared in constant time and never logged. A value; the clock (of the loop) comes in as an
 * argument.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define REVIEWPATHS_SECRET "/admission/" /* what secret paths begin with; then come 32 hex digits */
#define REVIEWPATHS_SIZE   128           /* of a path with its NUL; longer ones are not answered */
#define REVIEWPATHS_MAX    16
#define REVIEWPATHS_LAG_MS 10000 /* so long an API server may go by what the configuration said before */

struct reviewpaths { /* zero-initialised: none */
	struct reviewpath {
		char text[REVIEWPATHS_SIZE]; /* "": free */
		int64_t until_ms;            /* INT64_MAX: named now */
	} list[REVIEWPATHS_MAX];
};

void reviewpaths_make(char out[REVIEWPATHS_SIZE]); /* a secret path that nobody has seen */
bool reviewpaths_is_secret(const char *path);      /* as reviewpaths_make does, or with more digits */

/*
 * The configuration is another: first retire, then name each path that it has (a slash at its end
 * does not matter). Beyond REVIEWPATHS_MAX none is taken.
 */
void reviewpaths_retire(struct reviewpaths *p, int64_t now_ms);
void reviewpaths_name(struct reviewpaths *p, const char *path);
/* It will be named, if all goes well: the API server may be faster than the news. */
void reviewpaths_expect(struct reviewpaths *p, const char *path, int64_t now_ms);

/* path: as it was sent, not terminated */
bool reviewpaths_has(const struct reviewpaths *p, const char *path, size_t len, int64_t now_ms);

#endif
