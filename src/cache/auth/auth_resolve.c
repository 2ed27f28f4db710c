/* SPDX-License-Identifier: Apache-2.0 */
/* Records a source's parameters and failures. */
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/mem.h"
#include "cache/auth/auth_parts.h"

static int weight(const struct err *err)
{
	switch (err->kind) {
	case ERR_NONE: return 0;
	case ERR_WAITING: return 1;
	case ERR_TEMPORARY: return 2;
	default: return 3;
	}
}

/* All sources are requested even after a failure, because requests start watches. */
void auth_note_failure(struct err *worst, const struct err *err)
{
	if (weight(err) > weight(worst))
		*worst = *err;
}

void auth_fail(struct auth_resolve *r, const struct err *cause, const char *fmt, ...)
{
	struct err err = { 0 };
	va_list ap;
	char *what;

	va_start(ap, fmt);
	what = mem_vprintf(fmt, ap);
	va_end(ap);
	if (cause) {
		err = *cause;
		err_wrap(&err, "%s", what);
	} else {
		err_set(&err, ERR_INVALID, "%s", what);
	}
	free(what);
	auth_note_failure(&r->err, &err);
}

static bool is_credential(const char *parameter)
{
	static const char *const ends[] = { "password", "token", "key", "keyid", "secret", "credentials" };
	size_t len = strlen(parameter);

	for (size_t i = 0; i < MEM_COUNT(ends); i++)
		if (len >= strlen(ends[i]) && strcasecmp(parameter + len - strlen(ends[i]), ends[i]) == 0)
			return true;
	return false;
}

bool auth_may_use_own_identity(struct auth_resolve *r, const char *source)
{
	bool cluster = !*r->t->meta.namespace_;

	if (r->identity->may_be_kscaled)
		return true;
	auth_fail(r, NULL,
		"%s%spodIdentity asks for kscaled's own identity at the cloud, which %s: give credentials instead",
		source, *source ? "." : "",
		cluster ? "option cloud-identity none denies"
			: "needs a ClusterTriggerAuthentication or option cloud-identity all");
	return false;
}

void auth_put(struct auth_resolve *r, const char *source, const char *parameter, const char *value, const char *what)
{
	/* Triggers trim parameters and ignore empty ones. */
	if (value[strspn(value, " \t\n\v\f\r")] || !is_credential(parameter)) {
		strmap_remove_secret(r->out, parameter);
		strmap_set(r->out, parameter, value);
	} else {
		auth_fail(r, NULL, "%s parameter \"%s\": %s is empty", source, parameter, what);
	}
}
