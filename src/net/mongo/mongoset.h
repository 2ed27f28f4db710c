/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MONGO_MONGOSET_H
#define NET_MONGO_MONGOSET_H

/*
 * The search for the server to ask: tries the hosts of an endpoint, or those found for its seed
 * (net/mongo/mongoseeds), and the members that their replica set names, until one fits the read
 * preference. One search per connection that is opened. Pure; net/mongo/mongo connects and greets.
 *
 * What a server names is untrusted: the number of members is limited, and texts that are not
 * addresses, or that repeat the password (a name server would learn it), are ignored.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/mongo/mongoendpoint.h"
#include "net/mongo/mongoreply.h"
#include "net/mongo/mongoseeds.h"

#define MONGOSET_HOSTS_MAX (MONGOENDPOINT_HOSTS_MAX + MONGOREPLY_MEMBERS_MAX)

struct mongoset;

/* Borrows both. seeds: NULL if the endpoint has hosts. */
struct mongoset *mongoset_new(const struct mongoendpoint *e, const struct mongoseeds *seeds);
void mongoset_free(struct mongoset *s); /* NULL is fine */

/* The next host to try, borrowed; NULL: none is left. */
const struct mongoendpoint_host *mongoset_next(struct mongoset *s);
size_t mongoset_left(const struct mongoset *s); /* hosts left to try, without the current one */

/* The current host could not be greeted. */
void mongoset_failed(struct mongoset *s, const struct err *why);
/*
 * Judges the current host's greeting. true: this is the server. Otherwise the members that it names
 * are tried before the remaining hosts.
 */
bool mongoset_judge(struct mongoset *s, const struct mongoreply_hello *hello);

/* Explains a failed search: the role of each host, or why it could not be greeted. */
void mongoset_explain(const struct mongoset *s, struct err *err);

#endif
