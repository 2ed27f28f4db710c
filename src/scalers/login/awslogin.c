/* SPDX-License-Identifier: Apache-2.0 */
#include "scalers/login/awslogin.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"
#include "net/identity/awskeys.h"
#include "net/identity/awsown.h"
#include "net/identity/awsregion.h"
#include "net/identity/awsrole.h"

/* The parameters as written. Owns its texts. */
struct awslogin_fields {
	unsigned owner; /* enum owner */
	char *role, *key_id, *secret, *session_token;
};

enum owner { POD, OPERATOR };
enum { OWNER_COUNTS = 1 }; /* rows without podIdentity aws */
static const char *const owners[] = { [POD] = "pod", [OPERATOR] = "operator", NULL };

#define AT(field) offsetof(struct awslogin_fields, field)
static const struct param_row rows[] = {
	{ "identityOwner", PARAM_CHOICE, "m", AT(owner), .when = OWNER_COUNTS, .words = owners,
		.help = "operator: kscaled's own identity; pod: the keys below" },
	{ "awsRoleArn", PARAM_TEXT, "a", AT(role), .help = "role for kscaled's identity to assume" },
	{ "awsAccessKeyID|awsAccessKeyId", PARAM_TEXT, "ame", AT(key_id), .help = "access key ID" },
	{ "awsSecretAccessKey", PARAM_TEXT, "ae", AT(secret), .help = "secret access key" },
	{ "awsSessionToken", PARAM_TEXT, "a", AT(session_token), .help = "session token of temporary keys" },
};
const struct param_table awslogin_table = PARAM_LOGIN_TABLE(rows);

/* ---- The rules ---- */

/* A role in the trigger is also assumed with kscaled's permissions. */
static int check_own(const struct awslogin_config *config, struct err *err)
{
	if (config->pod && config->pod->may_be_kscaled)
		return 0;
	return err_set(err, ERR_INVALID,
		"this asks for kscaled's own AWS identity, which needs a ClusterTriggerAuthentication or option "
		"cloud-identity all; give awsAccessKeyID and awsSecretAccessKey by a TriggerAuthentication instead");
}

static int decide_pod_identity(const struct awslogin_config *config, struct awslogin_choice *out, struct err *err)
{
	const struct pod_identity *pod = config->pod;

	out->role = text_is_given(pod->role_arn) ? pod->role_arn : config->role;
	out->external_id = pod->external_id;
	out->kind = text_is_given(out->role) ? AWSLOGIN_ROLE_BY_TOKEN : AWSLOGIN_OWN;
	return check_own(config, err);
}

static bool is_pod_identity(const struct pod_identity *pod)
{
	return pod && text_is_given(pod->provider) && strcmp(pod->provider, "aws") == 0;
}

int awslogin_decide(const struct awslogin_config *config, struct awslogin_choice *out, struct err *err)
{
	*out = (struct awslogin_choice){ .kind = AWSLOGIN_KEYS };
	if (is_pod_identity(config->pod))
		return decide_pod_identity(config, out, err);
	if (config->by_operator || text_is_given(config->role)) {
		out->kind = config->by_operator ? AWSLOGIN_OWN : AWSLOGIN_ROLE;
		out->role = config->by_operator ? NULL : config->role;
		return check_own(config, err);
	}
	if (!text_is_given(config->key_id) && config->pod && text_is_given(config->pod->provider) &&
		strcmp(config->pod->provider, "aws-eks") == 0)
		return err_set_about(err, "awsAccessKeyID",
			"awsAccessKeyID not found: podIdentity aws-eks needs the annotation eks.amazonaws.com/role-arn "
			"of the ServiceAccount of the scale target's Pods, which is missing, as is identityOwner "
			"operator in the trigger");
	if (!text_is_given(config->key_id))
		return err_set_about(err, "awsAccessKeyID",
			"awsAccessKeyID not found: give awsAccessKeyID and awsSecretAccessKey by a "
			"TriggerAuthentication, or set podIdentity.provider aws in one");
	if (!text_is_given(config->secret))
		return err_set_about(err, "awsSecretAccessKey", "awsSecretAccessKey not found");
	return 0;
}

/* ---- Reading ---- */

static struct identity *make(const struct awslogin_fields *f, const struct awslogin_choice *as, const char *region,
	struct err *err)
{
	switch (as->kind) {
	case AWSLOGIN_KEYS: return awskeys_new(f->key_id, f->secret, f->session_token, err);
	case AWSLOGIN_OWN: return awsown_new(region);
	case AWSLOGIN_ROLE:
	case AWSLOGIN_ROLE_BY_TOKEN: break;
	}
	return awsrole_new(region, as->role, as->external_id, as->kind == AWSLOGIN_ROLE_BY_TOKEN);
}

/* With podIdentity aws KEDA ignores identityOwner. */
static int read_fields(const struct scaler_params *params, struct awslogin_fields *f, struct err *err)
{
	int rc = params_read(&awslogin_table, params, f, err), more = 0;

	if (is_pod_identity(params->identity))
		params_read_ignored(&awslogin_table, params, OWNER_COUNTS, f, "with podIdentity aws");
	else if (rc >= 0)
		more = params_read_when(&awslogin_table, params, OWNER_COUNTS, f, err);
	return rc < 0 || more < 0 ? -1 : rc | more;
}

bool awslogin_is_configured(const struct scaler_params *params)
{
	struct scaler_params silent = *params;
	struct awslogin_fields f = { 0 };
	bool configured;

	silent.build = NULL;
	silent.about = NULL;
	read_fields(&silent, &f, NULL);
	configured = is_pod_identity(params->identity) || f.owner == OPERATOR || f.role || f.key_id || f.secret;
	params_done(&awslogin_table, &f);
	return configured;
}

int awslogin_read(const struct scaler_params *params, const char *region, struct identity **out, struct err *err)
{
	struct awslogin_fields f = { 0 };
	struct awslogin_config config = { .pod = params->identity };
	struct awslogin_choice as;
	int rc = read_fields(params, &f, err);

	*out = NULL;
	if (rc >= 0 && region && awsregion_check(region, err)) {
		params_wrap(err, "awsRegion");
		rc = -1;
	}
	if (rc == 0) {
		config.by_operator = f.owner == OPERATOR;
		config.role = f.role;
		config.key_id = f.key_id;
		config.secret = f.secret;
		if (awslogin_decide(&config, &as, err) == 0)
			*out = make(&f, &as, region, err);
		rc = *out ? 0 : -1;
	}
	params_done(&awslogin_table, &f);
	return rc;
}
