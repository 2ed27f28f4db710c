/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_PG_PGREFUSAL_H
#define NET_PG_PGREFUSAL_H

/*
 * Classifies errors of a PostgreSQL server or a pooler: during the login by their text, as libpq
 * does not provide the code, later by SQLSTATE. Pure.
 */

#include <stdbool.h>

#include "base/err.h"

/* An error of a login: ERR_DENIED if it is about the credentials or rights, else ERR_TEMPORARY. */
enum err_kind pgrefusal_of_login(const char *text);
/* The server refuses the token that was sent as the password: another one may be accepted. */
bool pgrefusal_is_of_token(const char *text);
/* The server refuses our settings in the startup packet. */
bool pgrefusal_is_of_options(const char *text);
/* Five digits and capitals (PostgreSQL's manual, appendix A). Anything else is not shown. */
bool pgrefusal_is_state(const char *text);
enum err_kind pgrefusal_of_state(const char *state);

#endif
