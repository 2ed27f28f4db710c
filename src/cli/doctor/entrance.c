/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/entrance.h"

#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "cli/plaintext.h"

#define SECOND_MS INT64_C(1000)
#define DAY_MS    (24 * 3600 * SECOND_MS)

/* Kubernetes' Leases and tokens bear some seconds; certificates that are made anew do not. */
#define SKEW_ODD_MS   (5 * SECOND_MS)
#define SKEW_WRONG_MS (60 * SECOND_MS)

/* ---- What an error's text says, and what mends it ---- */

/* The first whose words the text has, both, counts. */
struct remedy {
	const char *word, *with; /* NULL: any text; with alone: none */
	const char *mend;        /* with the words in capitals of fill() */
};

static const char *kubeconfig_file(const struct casefile *c)
{
	return c->setup->kubeconfig ? c->setup->kubeconfig : "FILE";
}

/* The text with what is known in the place of its words, each as one of a shell's. */
static char *fill(const struct casefile *c, const char *text)
{
	const json_t *config = casefile_object(c, "kubeconfig");
	const struct {
		const char *word, *value; /* "": not known, so that the word stays */
	} words[] = {
		{ "PROGRAM", casefile_program(c) },
		{ "FILE", kubeconfig_file(c) },
		{ "CLUSTER", json_str_or_empty(config, "cluster") },
		{ "USER", json_str_or_empty(config, "user") },
		{ "ACCOUNT", c->setup->account ? c->setup->account : "kscaled" },
		{ "NAMESPACE", c->setup->namespace_ },
	};
	struct buf out = BUF_INIT(SIZE_MAX);

	while (*text) {
		size_t i = 0, len;

		while (i < MEM_COUNT(words) && !text_behind(text, words[i].word))
			i++;
		len = i < MEM_COUNT(words) ? strlen(words[i].word) : 1;
		if (i == 0)
			buf_puts(&out, words[i].value); /* "kubectl kscaled" are two */
		else if (i < MEM_COUNT(words) && *words[i].value)
			plaintext_put_word(&out, words[i].value);
		else
			buf_printf(&out, "%.*s", (int)len, text);
		text += len;
	}
	return buf_take(&out);
}

static char *remedy_for(const struct casefile *c, const struct remedy *list, const char *message)
{
	while (list->word && (!strstr(message, list->word) || (list->with && !strstr(message, list->with))))
		list++;
	return fill(c, list->mend);
}

/* A host that was joined is joined again, whatever is wrong with its kubeconfig. Takes mend. */
static char *join_or(const struct casefile *c, char *mend)
{
	char *join = casefile_join_here(c);

	if (!join)
		return mend;
	free(mend);
	return join;
}

/*
 * A kubeconfig beside the one that cannot be used, which stays as it is: of the same cluster, with
 * a token of kscaled's account. The token is requested first, so that a failure writes nothing.
 */
#define BESIDE                                                                                                         \
	"token=$(kubectl --kubeconfig FILE -n NAMESPACE create token ACCOUNT --duration 24h) && (umask 077; kubectl "  \
	"--kubeconfig FILE config view --minify --flatten --raw >KUBECONFIG) && kubectl --kubeconfig KUBECONFIG "      \
	"config set-credentials ACCOUNT --token \"$token\" && kubectl --kubeconfig KUBECONFIG config set-context "     \
	"--current --user ACCOUNT && PROGRAM doctor --kubeconfig KUBECONFIG"

void entrance_kubeconfig(const struct casefile *c)
{
	static const struct remedy remedies[] = {
		{ "not in a pod", NULL, "PROGRAM doctor --kubeconfig KUBECONFIG" },
		{ "kubeconfig: ", "No such file",
			"`sudo kscaled join --kubeconfig ADMIN` writes one; `PROGRAM doctor --kubeconfig KUBECONFIG` "
			"looks by another" },
		{ "Permission denied", NULL, "sudo PROGRAM doctor --kubeconfig FILE" },
		{ ": exec:", NULL, BESIDE },
		{ ": auth-provider:", NULL, BESIDE },
		{ ": as", "impersonation", BESIDE },
		{ "current-context", NULL, "kubectl --kubeconfig FILE config use-context NAME" },
		{ NULL, NULL, "kubectl --kubeconfig FILE config view" },
	};
	const json_t *object = casefile_object(c, "kubeconfig");
	const char *message = casefile_message(c, "kubeconfig");

	if (object)
		casefile_fine(c, "%s, %s", json_str_or_empty(object, "source"), json_str_or_empty(object, "server"));
	else
		casefile_wrong(c, join_or(c, remedy_for(c, remedies, message)), "%s", message);
}

/* ---- Credentials ---- */

static int64_t number(const json_t *object, const char *key)
{
	return json_integer_value(json_object_get(object, key));
}

/*
 * The token of an account is asked for by kubectl; of a file that a daemon keeps itself, that
 * daemon must be running.
 */
static char *new_token(const struct casefile *c, const json_t *token)
{
	const char *account = text_behind(json_str_or_empty(token, "subject"), "system:serviceaccount:");
	const char *file = casefile_text_at(casefile_object(c, "kubeconfig"), "token_file");
	const char *colon = account ? strchr(account, ':') : NULL;
	char *join = casefile_join_here(c), *mend;
	MEM_AUTO char *ask = NULL, *write = NULL;
	struct buf place = BUF_INIT(SIZE_MAX);

	/* It makes the account again, too, if that is why the token is worth nothing. */
	if (join)
		return join;
	/* The kubelet renews that of a Pod when four fifths of its life are over. */
	if (!c->setup->kubeconfig)
		return casefile_restart(c);
	if (!colon)
		return mem_printf("a new token in %s", *file ? file : kubeconfig_file(c));
	ask = mem_printf("kubectl -n %.*s create token %s --duration 24h", (int)(colon - account), account, colon + 1);
	write = fill(c, "kubectl config set-credentials USER --kubeconfig FILE --token \"$token\"");
	/* Not both at once: where no token is given, none is written. */
	if (!*file)
		return mem_printf("token=$(%s) && %s", ask, write);
	plaintext_put_word(&place, file);
	mend = mem_printf("%s >%s", ask, buf_text(&place));
	buf_done(&place);
	return mend;
}

/* Of an administrator, or of kscaled's that was not made by `kscaled join`. */
static char *new_certificate(const struct casefile *c)
{
	return join_or(c,
		fill(c,
			"`sudo kubeadm certs renew admin.conf` makes a new one in /etc/kubernetes/admin.conf, `sudo "
			"systemctl restart k3s` in /etc/rancher/k3s/k3s.yaml: FILE is to be that file again; for "
			"kscaled's own, `sudo kscaled join --kubeconfig ADMIN`"));
}

/* Judges one span of life; what: "the token of x". mend is taken. */
static void judge_span(const struct casefile *c, const char *what, int64_t from_ms, int64_t until_ms, char *mend)
{
	char from[TIMESTAMP_TEXT_MAX], until[TIMESTAMP_TEXT_MAX];
	int64_t left_ms = until_ms - c->now_ms, life_ms = until_ms - from_ms;

	timestamp_format(from_ms, from);
	timestamp_format(until_ms, until);
	if (until_ms > 0 && left_ms <= 0) {
		casefile_wrong(c, mend, "%s ended at %s", what, until);
		return;
	}
	if (until_ms > 0 && left_ms < 14 * DAY_MS && left_ms < life_ms / 6) {
		casefile_warn(c, mend, "%s ends soon: at %s", what, until);
		return;
	}
	free(mend);
	if (from_ms > c->now_ms + SECOND_MS)
		casefile_wrong(c, mem_dup(CASEFILE_SET_CLOCK),
			"%s is not valid before %s: the clock of this host is behind", what, from);
	else if (until_ms > 0)
		casefile_fine(c, "%s is good until %s", what, until);
	else
		casefile_fine(c, "%s does not end", what);
}

void entrance_credentials(const struct casefile *c)
{
	const json_t *config = casefile_object(c, "kubeconfig"), *certificate = json_object_get(config, "certificate"),
		     *token = json_object_get(config, "token");
	const char *cn = json_str_or_empty(certificate, "cn"), *subject = json_str_or_empty(token, "subject");
	MEM_AUTO char *of_certificate = mem_printf("the client certificate of \"%s\"", cn);
	MEM_AUTO char *of_token = *subject ? mem_printf("the token of %s", subject) : mem_dup("the token");

	if (!certificate && !token)
		casefile_warn(c, join_or(c, mem_dup("sudo kscaled join --kubeconfig ADMIN")),
			"there is neither a token nor a client certificate: everything is asked as nobody");
	if (certificate && json_object_get(certificate, "unreadable"))
		casefile_wrong(c, new_certificate(c), "the client certificate cannot be read: %s",
			json_str_or_empty(certificate, "unreadable"));
	else if (certificate)
		judge_span(c, of_certificate, number(certificate, "from_ms"), number(certificate, "until_ms"),
			new_certificate(c));
	if (token)
		judge_span(c, of_token, number(token, "issued_ms"), number(token, "until_ms"), new_token(c, token));
}

/* ---- The API server ---- */

#define ELSEWHERE "kubectl config set-cluster CLUSTER --kubeconfig FILE --server URL"
#define TRUST                                                                                                          \
	"kubectl config set-cluster CLUSTER --kubeconfig FILE --embed-certs --certificate-authority "                  \
	"CERTIFICATE"

void entrance_api_server(const struct casefile *c)
{
	static const struct remedy remedies[] = {
		{ "not yet valid", NULL, CASEFILE_SET_CLOCK },
		{ "has expired", NULL,
			"`sudo kubeadm certs renew apiserver` makes the API server a new certificate, with which it is "
			"to be started again; with k3s, `sudo systemctl restart k3s` does both" },
		{ "self-signed", NULL, TRUST },
		{ "self signed", NULL, TRUST },
		{ "local issuer", NULL, TRUST },
		{ "cannot be looked up", NULL, ELSEWHERE },
		{ "refused", NULL,
			"nobody listens there: start the API server (k3s: `sudo systemctl restart k3s`; kubeadm: `sudo "
			"systemctl restart kubelet`); where it is another, `" ELSEWHERE "`" },
		{ NULL, NULL, "kubectl --kubeconfig FILE version" },
	};
	const json_t *version = casefile_object(c, "version");
	const char *message = casefile_message(c, "version"), *git = json_str_or_empty(version, "gitVersion");
	const char *server = casefile_text_at(casefile_object(c, "kubeconfig"), "server");
	int minor = atoi(json_str_or_empty(version, "minor"));

	if (!version && json_str_is(json_object_get(c->facts, "version"), "error", "denied"))
		casefile_wrong(c, new_token(c, casefile_at(casefile_object(c, "kubeconfig"), "token")),
			"%s does not know who asks: %s", server, message);
	else if (!version && (strstr(message, "not yet valid") || strstr(message, "has expired")))
		casefile_wrong(c, remedy_for(c, remedies, message), "%s", message);
	else if (!version)
		casefile_wrong(c, join_or(c, remedy_for(c, remedies, message)), "%s", message);
	else if (strcmp(json_str_or_empty(version, "major"), "1") != 0 || minor < ENTRANCE_MINOR_MIN)
		casefile_warn(c, mem_dup("an API server of version 1.25 or later"),
			"%s is %s, which is older than what kscaled is known to work with", server, git);
	else if (minor > ENTRANCE_MINOR_MAX)
		casefile_warn(c, mem_dup("a newer kscaled, if there is one"),
			"%s is %s, which is newer than what kscaled is known to work with", server, git);
	else
		casefile_fine(c, "%s is %s", server, git);
}

void entrance_clock(const struct casefile *c)
{
	const json_t *version = casefile_object(c, "version");
	int64_t date_ms = number(version, "date_ms"), skew_ms = number(version, "asked_ms") - date_ms;
	long long seconds = llabs((long long)skew_ms / SECOND_MS);
	const char *way = skew_ms > 0 ? "ahead of" : "behind";

	if (date_ms == 0)
		casefile_skip(c, "not looked at: the API server does not tell the time");
	else if (llabs(skew_ms) > SKEW_WRONG_MS)
		casefile_wrong(c, mem_dup(CASEFILE_SET_CLOCK),
			"the clock of this host is %lld seconds %s the API server's: certificates and tokens are not "
			"yet "
			"valid, or end early",
			seconds, way);
	else if (llabs(skew_ms) > SKEW_ODD_MS)
		casefile_warn(c, mem_dup(CASEFILE_SET_CLOCK),
			"the clock of this host is %lld seconds %s the API server's", seconds, way);
	else
		casefile_fine(c, "agrees with the API server's");
}
