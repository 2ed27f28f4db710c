/* SPDX-License-Identifier: Apache-2.0 */

/* A Lease: what is read is written and read the same again. */

#include <string.h>

#include "base/json.h"
#include "crd/lease.h"
#include "fuzz.h"

/* RFC 3339 has four digits for the year; an offset can lead out of them. */
static int is_writable(int64_t unix_ms)
{
	return unix_ms >= -62135596800000 && unix_ms <= 253402300799999;
}

static void there_and_back(const struct lease *l)
{
	char *text = lease_encode("ns", "name", l);
	json_t *value = json_parse(text, strlen(text), NULL);
	struct lease again;

	must(value != NULL);
	must(lease_decode(value, &again, NULL) == 0);
	must(strcmp(l->holder, again.holder) == 0 && strcmp(l->resource_version, again.resource_version) == 0);
	must(l->renewed_unix_ms == again.renewed_unix_ms && l->acquired_unix_ms == again.acquired_unix_ms &&
		l->transitions == again.transitions);
	must(l->duration_s == again.duration_s || l->duration_s < 0);
	lease_done(&again);
	json_decref(value);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct err err;
	json_t *value = json_parse((const char *)data, size, &err);
	struct lease lease;

	if (value == NULL)
		return 0;
	if (lease_decode(value, &lease, &err) == 0) {
		if (is_writable(lease.acquired_unix_ms) && is_writable(lease.renewed_unix_ms))
			there_and_back(&lease);
		lease_done(&lease);
	} else {
		must(err.kind == ERR_INVALID && err.msg[0] != '\0');
	}
	json_decref(value);
	return 0;
}
