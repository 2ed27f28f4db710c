/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_EXTERNAL_EXTERNALQUESTION_H
#define SCALERS_EXTERNAL_EXTERNALQUESTION_H

/*
 * What a trigger of type external or external-push says, and what its server is told about it: the
 * data of its questions, for scalers/external and its push.
 */

#include <stddef.h>

#include "base/buf.h"
#include "base/strmap.h"
#include "net/grpc/grpcendpoint.h"
#include "scalers/params.h"
#include "scalers/scaler.h"

/*
 * One trigger of one object, as its server gets to know it; shared by the questions about its
 * metrics.
 */
struct externalquestion_source {
	unsigned count;
	struct grpcendpoint *endpoint;
	char *namespace_, *object;
	struct strmap metadata;  /* as sent: variables are there by value */
	struct strmap variables; /* its keys that came from the environment */
	struct buf reference;    /* a ScaledObjectRef, packed */
};

struct externalquestion { /* the data of a question */
	struct externalquestion_source *source;
	char *metric;    /* NULL: which metrics are there is not known */
	size_t position; /* among them */
};

extern const struct param_table externalquestion_table;

/* The functions of struct scaler_type. */
int externalquestion_build(const struct scaler_params *params, struct scaler *out, char **metric_name, struct err *err);
struct question *externalquestion_narrow(const struct question *question, const char *metric, size_t position);
void externalquestion_free(void *data);

/*
 * Puts the source before the message, and takes the words of a server out of it that has repeated a
 * value of the target's environment.
 */
void externalquestion_name_error(const struct question *question, struct err *err);

#endif
