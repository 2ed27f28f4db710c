/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/checks.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "cli/plaintext.h"

/* The Kubernetes versions that kscaled is tested with: 1.25 to 1.36. */
#define MINOR_MIN 25
#define MINOR_MAX 36

#define SECOND_MS INT64_C(1000)
#define DAY_MS    (24 * 3600 * SECOND_MS)

/* Clock skew: a few seconds are harmless for Leases and tokens, not for new certificates. */
#define SKEW_ODD_MS   (5 * SECOND_MS)
#define SKEW_WRONG_MS (60 * SECOND_MS)

/* ---- Fixes by the text of an error ---- */

/* The first entry applies whose words are both in the text. */
struct remedy {
	const char *word, *with; /* NULL: any text */
	const char *mend;        /* with placeholders of fill() */
};

static const char *kubeconfig_file(const struct facts *c)
{
	return c->setup->kubeconfig ? c->setup->kubeconfig : "FILE";
}

/* Replaces the placeholders whose values are known, quoted for a shell. */
static char *fill(const struct facts *c, const char *text)
{
	const json_t *config = facts_object(c, "kubeconfig");
	const struct {
		const char *word, *value; /* "": unknown, the placeholder stays */
	} words[] = {
		{ "PROGRAM", facts_program(c) },
		{ "FILE", kubeconfig_file(c) },
		{ "CLUSTER", json_str_or_empty(config, "cluster") },
		{ "USER", json_str_or_empty(config, "user") },
		{ "ACCOUNT", c->account },
		{ "NAMESPACE", c->namespace_ },
	};
	struct buf out = BUF_INIT(SIZE_MAX);

	while (*text) {
		size_t i = 0, len;

		while (i < MEM_COUNT(words) && !text_behind(text, words[i].word))
			i++;
		len = i < MEM_COUNT(words) ? strlen(words[i].word) : 1;
		if (i == 0)
			buf_puts(&out, words[i].value); /* unquoted: "kubectl kscaled" is two words */
		else if (i < MEM_COUNT(words) && *words[i].value)
			plaintext_put_word(&out, words[i].value);
		else
			buf_printf(&out, "%.*s", (int)len, text);
		text += len;
	}
	return buf_take(&out);
}

static char *remedy_for(const struct facts *c, const struct remedy *list, const char *message)
{
	while (list->word && (!strstr(message, list->word) || (list->with && !strstr(message, list->with))))
		list++;
	return fill(c, list->mend);
}

/* On a host that was joined, joining again fixes any problem with its kubeconfig. Takes mend. */
static char *join_or(const struct facts *c, char *mend)
{
	char *join = facts_join_here(c);

	if (!join)
		return mend;
	free(mend);
	return join;
}

/*
 * Writes a second kubeconfig for the same cluster with a token of kscaled's account; the unusable
 * one stays as it is. The token is requested first: if that fails, nothing is written.
 */
#define BESIDE                                                                                                         \
	"token=$(kubectl --kubeconfig FILE -n NAMESPACE create token ACCOUNT --duration 24h) && (umask 077; kubectl "  \
	"--kubeconfig FILE config view --minify --flatten --raw >KUBECONFIG) && kubectl --kubeconfig KUBECONFIG "      \
	"config set-credentials ACCOUNT --token \"$token\" && kubectl --kubeconfig KUBECONFIG config set-context "     \
	"--current --user ACCOUNT && PROGRAM doctor --kubeconfig KUBECONFIG"

void apiserver_kubeconfig(const struct facts *c)
{
	static const struct remedy remedies[] = {
		{ "not in a pod", NULL, "PROGRAM doctor --kubeconfig KUBECONFIG" },
		{ "kubeconfig: ", "No such file",
			"`sudo kscaled join --kubeconfig ADMIN` writes one; `PROGRAM doctor --kubeconfig KUBECONFIG` "
			"uses another" },
		{ "Permission denied", NULL, "sudo PROGRAM doctor --kubeconfig FILE" },
		{ ": exec:", NULL, BESIDE },
		{ ": auth-provider:", NULL, BESIDE },
		{ ": as", "impersonation", BESIDE },
		{ "current-context", NULL, "kubectl --kubeconfig FILE config use-context NAME" },
		{ NULL, NULL, "kubectl --kubeconfig FILE config view" },
	};
	const json_t *object = facts_object(c, "kubeconfig");
	const char *message = fields_text(c->facts, "kubeconfig.message");

	if (object)
		facts_ok(c, "%s, %s", json_str_or_empty(object, "source"), json_str_or_empty(object, "server"));
	else
		facts_error(c, join_or(c, remedy_for(c, remedies, message)), "%s", message);
}

/* ---- Credentials ---- */

/* How to replace an expired or rejected token. */
static char *new_token(const struct facts *c, const json_t *token)
{
	const char *account = text_behind(json_str_or_empty(token, "subject"), "system:serviceaccount:");
	const char *file = fields_text(c->facts, "kubeconfig.object.token_file");
	const char *colon = account ? strchr(account, ':') : NULL;
	char *join = facts_join_here(c), *mend;
	MEM_AUTO char *ask = NULL, *write = NULL;
	struct buf place = BUF_INIT(SIZE_MAX);

	/* Joining also restores the account, in case its loss made the token invalid. */
	if (join)
		return join;
	/* The kubelet renews a Pod's token at 80 % of its life; a restart gets a new one. */
	if (!c->setup->kubeconfig)
		return facts_restart(c);
	if (!colon)
		return mem_printf("write a new token to %s", *file ? file : kubeconfig_file(c));
	ask = mem_printf("kubectl -n %.*s create token %s --duration 24h", (int)(colon - account), account, colon + 1);
	write = fill(c, "kubectl config set-credentials USER --kubeconfig FILE --token \"$token\"");
	/* In two steps: if no token is issued, none is written. */
	if (!*file)
		return mem_printf("token=$(%s) && %s", ask, write);
	plaintext_put_word(&place, file);
	mend = mem_printf("%s >%s", ask, buf_text(&place));
	buf_done(&place);
	return mend;
}

/* For an administrator's kubeconfig, or one of kscaled's that `kscaled join` did not write. */
static char *new_certificate(const struct facts *c)
{
	return join_or(c,
		fill(c,
			"`sudo kubeadm certs renew admin.conf` renews /etc/kubernetes/admin.conf, `sudo systemctl "
			"restart k3s` renews /etc/rancher/k3s/k3s.yaml: copy that file to FILE again; for kscaled's "
			"own, `sudo kscaled join --kubeconfig ADMIN`"));
}

/* Checks a validity period. what: "the token of x". mend is taken. */
static void check_span(const struct facts *c, const char *what, int64_t from_ms, int64_t until_ms, char *mend)
{
	char from[TIMESTAMP_TEXT_MAX], until[TIMESTAMP_TEXT_MAX];
	int64_t left_ms = until_ms - c->now_ms, life_ms = until_ms - from_ms;

	timestamp_format(from_ms, from);
	timestamp_format(until_ms, until);
	if (until_ms > 0 && left_ms <= 0) {
		facts_error(c, mend, "%s expired at %s", what, until);
		return;
	}
	if (until_ms > 0 && left_ms < 14 * DAY_MS && left_ms < life_ms / 6) {
		facts_warn(c, mend, "%s expires soon, at %s", what, until);
		return;
	}
	free(mend);
	if (from_ms > c->now_ms + SECOND_MS)
		facts_error(c, mem_dup(FACTS_SET_CLOCK), "%s is not valid before %s: the clock of this host is behind",
			what, from);
	else if (until_ms > 0)
		facts_ok(c, "%s is valid until %s", what, until);
	else
		facts_ok(c, "%s does not expire", what);
}

void apiserver_credentials(const struct facts *c)
{
	const json_t *config = facts_object(c, "kubeconfig"), *certificate = json_object_get(config, "certificate"),
		     *token = json_object_get(config, "token");
	const char *cn = json_str_or_empty(certificate, "cn"), *subject = json_str_or_empty(token, "subject");
	MEM_AUTO char *of_certificate = mem_printf("the client certificate of \"%s\"", cn);
	MEM_AUTO char *of_token = *subject ? mem_printf("the token of %s", subject) : mem_dup("the token");

	if (!certificate && !token)
		facts_warn(c, join_or(c, mem_dup("sudo kscaled join --kubeconfig ADMIN")),
			"neither a token nor a client certificate is given: requests are anonymous");
	if (certificate && json_object_get(certificate, "unreadable"))
		facts_error(c, new_certificate(c), "the client certificate cannot be read: %s",
			json_str_or_empty(certificate, "unreadable"));
	else if (certificate)
		check_span(c, of_certificate, fields_number(certificate, "from_ms"),
			fields_number(certificate, "until_ms"), new_certificate(c));
	if (token)
		check_span(c, of_token, fields_number(token, "issued_ms"), fields_number(token, "until_ms"),
			new_token(c, token));
}

/* ---- The API server ---- */

#define ELSEWHERE "kubectl config set-cluster CLUSTER --kubeconfig FILE --server URL"
#define TRUST                                                                                                          \
	"kubectl config set-cluster CLUSTER --kubeconfig FILE --embed-certs --certificate-authority "                  \
	"CERTIFICATE"

void apiserver_version(const struct facts *c)
{
	static const struct remedy remedies[] = {
		{ "not yet valid", NULL, FACTS_SET_CLOCK },
		{ "has expired", NULL,
			"`sudo kubeadm certs renew apiserver` renews the API server's certificate; restart the API "
			"server afterwards; with k3s, `sudo systemctl restart k3s` does both" },
		{ "self-signed", NULL, TRUST },
		{ "self signed", NULL, TRUST },
		{ "local issuer", NULL, TRUST },
		{ "cannot be looked up", NULL, ELSEWHERE },
		{ "refused", NULL,
			"nothing listens there: start the API server (k3s: `sudo systemctl restart k3s`; kubeadm: "
			"`sudo "
			"systemctl restart kubelet`); if its address is another, `" ELSEWHERE "`" },
		{ NULL, NULL, "kubectl --kubeconfig FILE version" },
	};
	const json_t *version = facts_object(c, "version");
	const char *message = fields_text(c->facts, "version.message"), *git = json_str_or_empty(version, "gitVersion");
	const char *server = fields_text(c->facts, "kubeconfig.object.server");
	int minor = atoi(json_str_or_empty(version, "minor"));

	if (!version && fields_is(c->facts, "version.error", "denied"))
		facts_error(c, new_token(c, fields_at(c->facts, "kubeconfig.object.token")),
			"%s does not accept the credentials: %s", server, message);
	else if (!version && (strstr(message, "not yet valid") || strstr(message, "has expired")))
		facts_error(c, remedy_for(c, remedies, message), "%s", message);
	else if (!version)
		facts_error(c, join_or(c, remedy_for(c, remedies, message)), "%s", message);
	else if (strcmp(json_str_or_empty(version, "major"), "1") != 0 || minor < MINOR_MIN)
		facts_warn(c, mem_dup("upgrade the API server to 1.25 or later"),
			"%s is %s, older than the versions that kscaled is tested with", server, git);
	else if (minor > MINOR_MAX)
		facts_warn(c, mem_dup("use a newer kscaled, if there is one"),
			"%s is %s, newer than the versions that kscaled is tested with", server, git);
	else
		facts_ok(c, "%s is %s", server, git);
}

void apiserver_clock(const struct facts *c)
{
	const json_t *version = facts_object(c, "version");
	int64_t date_ms = fields_number(version, "date_ms"), skew_ms = fields_number(version, "asked_ms") - date_ms;
	long long seconds = llabs((long long)skew_ms / SECOND_MS);
	const char *way = skew_ms > 0 ? "ahead of" : "behind";

	if (date_ms == 0)
		facts_skip(c, "not checked: the API server sends no Date header");
	else if (llabs(skew_ms) > SKEW_WRONG_MS)
		facts_error(c, mem_dup(FACTS_SET_CLOCK),
			"the clock of this host is %lld seconds %s the API server's: certificates and tokens are not "
			"yet valid or expire early",
			seconds, way);
	else if (llabs(skew_ms) > SKEW_ODD_MS)
		facts_warn(c, mem_dup(FACTS_SET_CLOCK), "the clock of this host is %lld seconds %s the API server's",
			seconds, way);
	else
		facts_ok(c, "agrees with the API server's");
}
