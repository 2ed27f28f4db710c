/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_GRAPHITE_GRAPHITE_H
#define SCALERS_GRAPHITE_GRAPHITE_H

/* Trigger type `graphite`: the last value of a series, by the render API (doc/keda.md 8.7). */

#include "scalers/scaler.h"

extern const struct scaler_type graphite_scaler_type;

#endif
