/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_BEANSTALKD_BEANSTALKD_H
#define SCALERS_BEANSTALKD_BEANSTALKD_H

/* Trigger type `beanstalkd`: the jobs of a tube (doc/keda.md 8.29). */

#include "scalers/scaler.h"

extern const struct scaler_type beanstalkd_scaler_type;

#endif
