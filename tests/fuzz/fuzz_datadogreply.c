/* SPDX-License-Identifier: Apache-2.0 */

/*
 * What Datadog and its Cluster Agent answer: a finite value, no point, or an error on one line. The
 * first byte chooses the aggregator and how many places back.
 */

#include <math.h>
#include <string.h>

#include "base/json.h"
#include "fuzz.h"
#include "scalers/datadog/datadogreply.h"

static void check_line(const char *line)
{
	must(*line != '\0' && strpbrk(line, "\r\n\t") == NULL);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	unsigned how = size > 0 ? data[0] : 0;
	json_t *answer = size > 0 ? json_parse_foreign((const char *)data + 1, size - 1, NULL) : NULL;
	char words[DATADOGREPLY_WORDS];
	struct err err = { 0 };
	double value = NAN;

	if (!answer)
		return 0;
	switch (datadogreply_series(answer, how % 3, how / 3, &value, &err)) {
	case DATADOGREPLY_VALUE: must(isfinite(value)); break;
	case DATADOGREPLY_NONE:
		must(err.kind == ERR_MISSING);
		check_line(err.msg);
		break;
	case DATADOGREPLY_FAILED:
		must(err.kind == ERR_INVALID);
		check_line(err.msg);
		break;
	}
	if (datadogreply_metric(answer, &value, &err) == 0)
		must(isfinite(value));
	else
		check_line(err.msg);
	must(strpbrk(datadogreply_words(answer, words), "\r\n\t") == NULL);
	json_decref(answer);
	return 0;
}
