/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_MONGO_MONGOSET_H
#define NET_MONGO_MONGOSET_H

/*
 * The search for the server that is asked: the hosts of an endpoint, or those that were found for
 * its seed (net/mongo/mongoseeds), one after the other, and those that members of its replica set
 * name, until one is what its read preference wants. One search per connection that is opened.
 * Pure; net/mongo/mongo connects and greets.
 *
 * What a server names is foreign: as many members as a set may have, no text that is no address,
 * and none that repeats the password, which a name server would then be told.
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

/* Borrows both. seeds: NULL: the endpoint has hosts. */
struct mongoset *mongoset_new(const struct mongoendpoint *e, const struct mongoseeds *seeds);
void mongoset_free(struct mongoset *s); /* NULL is fine */

/* The next host to try, borrowed; NULL: there is none left. */
const struct mongoendpoint_host *mongoset_next(struct mongoset *s);
size_t mongoset_left(const struct mongoset *s); /* how many there are to try, besides */

/* The current host could not be asked who it is. */
void mongoset_failed(struct mongoset *s, const struct err *why);
/*
 * It said who it is. true: this is the server. Members that it names are tried before the others.
 */
bool mongoset_judge(struct mongoset *s, const struct mongoreply_hello *hello);

/* When there is none: what each host is, or why it could not be asked. */
void mongoset_explain(const struct mongoset *s, struct err *err);

#endif
