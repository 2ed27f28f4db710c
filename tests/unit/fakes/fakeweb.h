/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_FAKES_FAKEWEB_H
#define TESTS_UNIT_FAKES_FAKEWEB_H

/*
 * Stands in for net/web/webclient at link time: every request is answered after 5 ms with what a
 * test says. A fake, because no real server rotates a secret or fails at given moments. Tokens, for
 * net/web/webtoken, are there at once.
 */

#include <stdint.h>

#include "net/web/webtoken.h"

struct webclient *fakeweb_start(struct loop *loop);
struct webtoken_store *fakeweb_tokens(void);
void fakeweb_end(void); /* fails when a request is under way */

/* From now on. Texts are copied. */
void fakeweb_answer(int status, const char *body, int64_t retry_after_ms);
void fakeweb_fail(enum err_kind kind, const char *message); /* no answer comes */
void fakeweb_hang(void);                                    /* and no failure */

/* Tokens have this project (borrowed; at first NULL), or there is none. */
void fakeweb_project(char *project);
void fakeweb_no_token(enum err_kind kind, const char *message);

unsigned fakeweb_asked(void);   /* so far */
const char *fakeweb_last(void); /* "POST https://s/ body" of the last request */

#endif
