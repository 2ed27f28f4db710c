/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PGREFUSAL_H
#define NET_PG_PGREFUSAL_H

/*
 * What it means that a PostgreSQL server, or a pooler before it, refuses something: by its words
 * while nobody is logged in, as libpq keeps no code of these, later by its SQLSTATE. Pure.
 */

#include <stdbool.h>

#include "base/err.h"

/* A login: ERR_DENIED when nobody is let in with these credentials; else ERR_TEMPORARY. */
enum err_kind pgrefusal_of_login(const char *text);
/* It is the token that was sent as the password: another one may do. */
bool pgrefusal_is_of_token(const char *text);
/* It is our settings in the startup packet that are refused. */
bool pgrefusal_is_of_options(const char *text);
/* Five digits and capitals (PostgreSQL's documentation, appendix A). Anything else is not shown. */
bool pgrefusal_is_state(const char *text);
enum err_kind pgrefusal_of_state(const char *state);

#endif
