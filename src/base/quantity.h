/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_QUANTITY_H
#define BASE_QUANTITY_H

/*
 * Kubernetes quantities ("100m", "1.5", "2Gi", "3e2") as values in thousandths, the unit of the HPA
 * controller and of the external metrics API. Canonical form and rounding are those of
 * k8s.io/apimachinery/pkg/api/resource/quantity.go.
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum quantity_format { QUANTITY_DECIMAL_SI, QUANTITY_BINARY_SI, QUANTITY_DECIMAL_EXPONENT };

struct quantity {
	int64_t milli;               /* value * 1000, rounded away from 0; saturates */
	enum quantity_format format; /* as it was written; quantity_format writes it so again */
};

#define QUANTITY_TEXT_MAX 40

/* Parses all of text. ERR_INVALID names the text. */
int quantity_parse(const char *text, struct quantity *out, struct err *err);

/*
 * The value in billionths, the finest unit that Kubernetes keeps, rounded away from 0; saturates. 0
 * if text is not a quantity.
 */
int64_t quantity_nano(const char *text);

/*
 * Writes the canonical text to out (at least QUANTITY_TEXT_MAX bytes); returns out. 2500 milli ->
 * "2500m", 3000 -> "3", 1e6*1000 -> "1M", 1024Ki -> "1Mi".
 */
char *quantity_format(struct quantity q, char *out);

/* From an integer; saturates. */
struct quantity quantity_from_int(int64_t value);

/*
 * From a reading, as KEDA passes it to the HPA: rounded as by printf "%.3f"; NaN, infinities and
 * negative values become 0 (doc/keda.md 6.6). Saturates.
 */
struct quantity quantity_from_double(double value);

#endif
