/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_MONGODB_MONGOURI_H
#define SCALERS_MONGODB_MONGOURI_H

/*
 * Parses connection strings of MongoDB as its driver for Go does (connstring.go, v1.17), which KEDA
 * uses: mongodb://[user:password@]host[:port][,host...][/[database][?option=value&...]]. Pure. With
 * mongodb+srv:// there is one host without a port, whose SRV and TXT records say the rest
 * (net/mongo/mongoseeds), and TLS unless an option says otherwise.
 *
 * Options that have no meaning for a count are checked as there, and have no effect; unknown ones
 * are passed over, as there. What is refused: names of files (of KEDA's container), mechanisms that
 * are not spoken here, tags, and load balancers.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/mongo/mongoendpoint.h"

struct mongouri { /* all texts are owned, or NULL when absent */
	bool srv; /* the scheme is mongodb+srv */
	struct mongoendpoint_host *hosts;
	size_t count;
	char *seed, *service; /* in the place of the hosts */
	size_t max_hosts;
	char *user, *password; /* secrets */
	char *database;        /* of the user, unless source says another */
	char *source, *set, *app_name;
	bool tls_given, tls, tls_insecure, direct, direct_given, source_given, unbalanced;
	enum mongoendpoint_reads reads;
	enum mongoendpoint_mechanism mechanism; /* MONGOENDPOINT_NO_LOGIN: none is named */
	const char *read_concern;               /* a constant */
	int64_t connect_ms;
};

/*
 * Fills *out; call mongouri_done also after an error. ERR_INVALID messages contain only names of
 * known options, as the text is a secret.
 */
int mongouri_parse(const char *text, struct mongouri *out, struct err *err);
void mongouri_done(struct mongouri *u); /* wipes */

/* Fills srv, and tls as it goes with that. -1: a scheme that is not spoken here, or none at all. */
int mongouri_take_scheme(struct mongouri *u, const char *scheme, struct err *err);

/*
 * Takes the one host of mongodb+srv. Returns NULL, or what is wrong with it, a constant text.
 */
const char *mongouri_take_seed(struct mongouri *u, const char *host);

/*
 * Who logs in, and how, when all is known: fills mechanism and source. -1 with ERR_INVALID: what is
 * given does not fit together.
 */
int mongouri_settle_login(struct mongouri *u, struct err *err);

#endif
