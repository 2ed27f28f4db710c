/* SPDX-License-Identifier: Apache-2.0 */
/*
 * AdmissionReviews from strangers: read, or refused with a reason; and the answer to one that was
 * read is JSON again, with its uid.
 */
#include "fuzz.h"

#include <string.h>

#include "base/json.h"
#include "serve/admissionreview.h"

static void check_answer(const struct admissionreview *r)
{
	const char *const warnings[] = { r->namespace_, r->operation };
	const struct admit_verdict verdict = { .allowed = r->dry_run,
		.reason = "",
		.message = r->namespace_,
		.warnings = warnings,
		.warning_count = 2 };
	struct buf out = BUF_INIT(1 << 20);
	json_t *answer;

	admissionreview_write(&out, r->uid, &verdict);
	if (!buf_failed(&out)) {
		answer = json_parse(out.data, out.len, NULL);
		must(answer != NULL);
		must(strcmp(json_str_or_empty(json_object_get(answer, "response"), "uid"), r->uid) == 0);
		json_decref(answer);
	}
	buf_done(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct admissionreview r;
	struct err err = { 0 };

	if (admissionreview_read((const char *)data, size, &r, &err) < 0) {
		must(err.kind == ERR_INVALID && err.msg[0] != '\0');
		must(r.document == NULL);
		return 0;
	}
	must(*r.uid != '\0' && strlen(r.uid) <= ADMISSIONREVIEW_UID_MAX);
	check_answer(&r);
	admissionreview_done(&r);
	return 0;
}
