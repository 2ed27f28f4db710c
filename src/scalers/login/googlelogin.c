/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/login/googlelogin.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "net/identity/googlekey.h"
#include "net/identity/googleown.h"

/* The parameters as written. Owns its texts. */
struct googlelogin_fields {
	char *key, *env_key;
};

#define AT(field) offsetof(struct googlelogin_fields, field)
static const struct param_row rows[] = {
	{ "GoogleApplicationCredentials", PARAM_TEXT, "a", AT(key), .help = "service account key, JSON" },
	{ "credentials", PARAM_TEXT, "e", AT(env_key), .help = "service account key, JSON" },
	{ "credentialsFromEnvFile", PARAM_REFUSED, "m",
		.why = "no file that a trigger names is read: give the key itself, by GoogleApplicationCredentials of "
		       "a TriggerAuthentication or by credentialsFromEnv",
		.help = "not supported" },
};
const struct param_table googlelogin_table = PARAM_LOGIN_TABLE(rows);

static int check_own(const struct pod_identity *pod, struct err *err)
{
	if (pod->may_be_kscaled)
		return 0;
	return err_set(err, ERR_INVALID,
		"this asks for kscaled's own Google identity, which needs a ClusterTriggerAuthentication or option "
		"cloud-identity all; give GoogleApplicationCredentials by a TriggerAuthentication instead");
}

static int take_own(const struct pod_identity *pod, const char *scope, struct googlelogin *out, struct err *err)
{
	if (check_own(pod, err))
		return -1;
	*out = (struct googlelogin){ .identity = googleown_new(scope), .own = true };
	return 0;
}

static int take_key(const struct googlelogin_fields *f, const char *scope, struct googlelogin *out, struct err *err)
{
	const char *text = f->key ? f->key : f->env_key;

	if (!text)
		return 0;
	out->identity = googlekey_new(text, scope, err);
	if (!out->identity)
		return params_wrap(err, f->key ? "GoogleApplicationCredentials" : "credentialsFromEnv");
	out->project = mem_dup(googlekey_project(out->identity));
	return 0;
}

int googlelogin_read(const struct scaler_params *params, const char *scope, struct googlelogin *out, struct err *err)
{
	const struct pod_identity *pod = params->identity;
	struct googlelogin_fields f = { 0 };
	int rc;

	*out = (struct googlelogin){ 0 };
	if (pod && text_equal(pod->provider, "gcp"))
		return take_own(pod, scope, out, err);
	rc = params_read(&googlelogin_table, params, &f, err);
	if (rc == 0)
		rc = take_key(&f, scope, out, err);
	params_done(&googlelogin_table, &f);
	return rc;
}

void googlelogin_done(struct googlelogin *g)
{
	identity_unref(g->identity);
	free(g->project);
	*g = (struct googlelogin){ 0 };
}
