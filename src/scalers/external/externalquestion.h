/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_EXTERNAL_EXTERNALQUESTION_H
#define SCALERS_EXTERNAL_EXTERNALQUESTION_H

/*
 * The data of the questions of external and external-push: the server and the parameters that are
 * sent to it. For scalers/external and its push.
 */

#include <stddef.h>

#include "base/buf.h"
#include "base/strmap.h"
#include "net/grpc/grpcendpoint.h"
#include "scalers/params.h"
#include "scalers/scaler.h"

/*
 * One trigger of one object as its server knows it. Reference-counted: shared by the questions
 * about its metrics.
 */
struct externalquestion_source {
	unsigned count;
	struct grpcendpoint *endpoint;
	char *namespace_, *object;
	struct strmap metadata;  /* as sent, with the values of variables */
	struct strmap variables; /* keys whose values came from the environment */
	struct buf reference;    /* a ScaledObjectRef, packed */
};

struct externalquestion { /* the data of a question */
	struct externalquestion_source *source;
	char *metric;    /* NULL: the metrics are not known yet */
	size_t position; /* index among the metrics */
};

extern const struct param_table externalquestion_table;

/* The functions of struct scaler_type. */
int externalquestion_build(struct scaler_build *b, struct err *err);
struct question *externalquestion_narrow(const struct question *question, const char *metric, size_t position);
void externalquestion_done(void *data);

/*
 * Prepends the source. Replaces a server's message that contains a value of the target's
 * environment.
 */
void externalquestion_name_error(const struct question *question, struct err *err);

#endif
