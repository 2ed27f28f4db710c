/* SPDX-License-Identifier: Apache-2.0 */
#include "base/metric.h"

const char *metric_target_type_name(enum metric_target_type type)
{
	switch (type) {
	case METRIC_AVERAGE_VALUE: return "AverageValue";
	case METRIC_VALUE: return "Value";
	case METRIC_UTILIZATION: return "Utilization";
	}
	return "AverageValue";
}
