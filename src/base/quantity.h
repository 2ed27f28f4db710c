/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_QUANTITY_H
#define BASE_QUANTITY_H

/*
 * Kubernetes quantities ("100m", "1.5", "2Gi", "3e2") as plain values, held in thousandths: the HPA
 * controller and the external metrics API work in milli-units. Rules:
 * k8s.io/apimachinery/pkg/api/resource/quantity.go (canonical form, rounding up of what is finer
 * than a unit).
 */

#include <stddef.h>
#include <stdint.h>

#include "base/err.h"

enum quantity_format { QUANTITY_DECIMAL_SI, QUANTITY_BINARY_SI, QUANTITY_DECIMAL_EXPONENT };

struct quantity {
	int64_t milli;               /* value * 1000, rounded up; saturated at the ends like Kubernetes' int64 */
	enum quantity_format format; /* how it was written, and so how it is written again */
};

#define QUANTITY_TEXT_MAX 40

/* Reads one quantity, all of text. Errors: ERR_INVALID naming the text. */
int quantity_parse(const char *text, struct quantity *out, struct err *err);

/*
 * Canonical text into out (at least QUANTITY_TEXT_MAX bytes); returns out. 2500 milli -> "2500m",
 * 3000 -> "3", 1e6*1000 -> "1M", 1024Ki -> "1Mi".
 */
char *quantity_format(struct quantity q, char *out);

/* A whole number. */
struct quantity quantity_from_int(int64_t value);

/*
 * A floating-point reading as KEDA hands it to the HPA: printf "%.3f", then canonical; NaN,
 * infinities and negative values are 0 (keda-scalers.md C.7). Values past int64 are held at the
 * end.
 */
struct quantity quantity_from_double(double value);

#endif
