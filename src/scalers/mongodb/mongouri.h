/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_MONGODB_MONGOURI_H
#define SCALERS_MONGODB_MONGOURI_H

/*
 * Parses MongoDB connection strings as the Go driver that KEDA uses does (connstring.go, v1.17):
 * mongodb://[user:password@]host[:port][,host...][/[database][?option=value&...]]. Pure.
 * mongodb+srv:// takes one host without a port, whose SRV and TXT records supply the rest
 * (net/mongo/mongoseeds), and implies TLS unless an option disables it.
 *
 * As in the driver, options without a meaning for a count are checked but have no effect, and
 * unknown ones are ignored. Refused are names of files (of KEDA's container), unsupported
 * mechanisms, tags, and load balancers.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/err.h"
#include "net/mongo/mongoendpoint.h"

struct mongouri { /* texts are owned; NULL if absent */
	bool srv; /* the scheme is mongodb+srv */
	struct mongoendpoint_host *hosts;
	size_t count;
	char *seed, *service; /* instead of hosts */
	size_t max_hosts;
	char *user, *password; /* secrets */
	char *database;        /* the user's database, unless source is given */
	char *source, *set, *app_name;
	bool tls_given, tls, tls_insecure, direct, direct_given, source_given, unbalanced;
	enum mongoendpoint_reads reads;
	enum mongoendpoint_mechanism mechanism; /* MONGOENDPOINT_NO_LOGIN: not given */
	const char *read_concern;               /* a constant */
	int64_t connect_ms;
};

/*
 * Fills *out; call mongouri_done even after an error. ERR_INVALID messages contain only the names
 * of known options, as the text is a secret.
 */
int mongouri_parse(const char *text, struct mongouri *out, struct err *err);
void mongouri_done(struct mongouri *u); /* wipes */

/* Sets srv, and tls accordingly. -1: unsupported or missing scheme. */
int mongouri_take_scheme(struct mongouri *u, const char *scheme, struct err *err);

/* Takes the one host of mongodb+srv. Returns NULL, or what is wrong with it, as a constant. */
const char *mongouri_take_seed(struct mongouri *u, const char *host);

/*
 * Completes mechanism and source once all else is known. -1 with ERR_INVALID: the login's
 * parameters do not fit together.
 */
int mongouri_settle_login(struct mongouri *u, struct err *err);

#endif
