/* SPDX-License-Identifier: Apache-2.0 */
#include "control/access/accesskeeper.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/file.h"
#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "kube/tokenfacts.h"
#include "net/filewatch.h"
#include "net/loop.h"
#include "net/tls/x509.h"

#define SUBJECT      "credentials"
#define LOOK_MS      30000
#define DAY_MS       INT64_C(86400000)
#define PAUSE_MIN_MS 60000  /* between two renewals, whatever the clocks */
#define SKEW_MS      300000 /* normal difference of clocks */
/* A host may be off this long, minus the half after which the token is renewed. */
#define TOKEN_LIFE_S     (30 * 86400)
#define CERT_WARNING_MS  (30 * DAY_MS)
#define BACKOFF_FIRST_MS 1000
#define BACKOFF_MAX_MS   300000
#define NAME_MAX_BYTES   768 /* a name of 253 bytes, escaped */

enum credential { CLIENT_CERTIFICATE, TOKEN, SERVING_CERTIFICATE, CREDENTIALS };

static const char *const label_of[] = { "client-certificate", "token", "serving-certificate" };
static const char *const words_of[] = { "the client certificate of the kubeconfig", "the token for the API server",
	"the serving certificate" };

/* When a credential ends (0: unknown), and when to warn of it again (loop clock). */
struct end {
	int64_t unix_ms, warn_again_ms;
};

struct accesskeeper {
	struct kube *kube; /* borrowed */
	struct loop *loop; /* borrowed */
	struct accesskeeper_config config;
	struct counters_family *ends_shown; /* NULL without a registry */
	struct filewatch *watch;            /* NULL: files are checked at intervals only */
	struct end ends[CREDENTIALS];
	struct tokenfacts token;
	char *own_file;         /* the token file, if it is ours to renew; NULL */
	struct kube_call *call; /* the TokenRequest under way */
	unsigned failures;      /* in a row */
	int64_t not_before_ms;  /* loop clock: no renewal before it, after a failure */
	struct err *told;       /* the error logged last; NULL: none since */
	struct loop_timer timer;
};

/* ---- Errors: each is logged once ---- */

static void say_trouble(struct accesskeeper *a, const struct err *err)
{
	if (!a->told || strcmp(a->told->msg, err->msg) != 0)
		log_warn(SUBJECT, "%s", err->msg);
	err_keep(&a->told, err);
}

/* ---- Whose token file it is ---- */

/* Below the state folder, and not a link, as in a mounted Secret. */
static bool is_below_state(const struct accesskeeper *a, const char *path)
{
	MEM_AUTO char *folder = file_folder(path), *whole = realpath(folder, NULL);
	MEM_AUTO char *state = a->config.state_dir ? realpath(a->config.state_dir, NULL) : NULL;
	size_t len = state ? strlen(state) : 0;
	struct stat st;

	return whole && state && strncmp(whole, state, len) == 0 && (whole[len] == '/' || whole[len] == '\0') &&
		lstat(path, &st) == 0 && S_ISREG(st.st_mode);
}

/* ---- Credentials and when they end ---- */

static int64_t end_of_certificate(const char *pem)
{
	struct x509_facts facts;
	struct err err;

	return pem && x509_read(pem, &facts, &err) == 0 ? facts.not_after_unix_ms : 0;
}

static void read_facts(struct accesskeeper *a)
{
	const struct kube_config *access = a->config.access;

	a->token = (struct tokenfacts){ .issued_unix_ms = 0 };
	if (access->token)
		tokenfacts_read(access->token, &a->token, NULL);
	a->ends[TOKEN].unix_ms = a->token.ends_unix_ms;
	a->ends[CLIENT_CERTIFICATE].unix_ms = end_of_certificate(access->cert_pem);
	free(a->own_file);
	a->own_file = a->config.renew && access->token_file && access->kubeconfig_path && a->token.account[0] &&
			is_below_state(a, access->token_file)
		? mem_dup(access->token_file)
		: NULL;
}

/* The kubelet, for one, replaces a token when a fifth of its life is left. */
static int64_t warning_ms(const struct accesskeeper *a, enum credential which)
{
	int64_t life_ms = a->token.issued_unix_ms > 0 ? a->token.ends_unix_ms - a->token.issued_unix_ms : 0;

	if (which != TOKEN)
		return CERT_WARNING_MS;
	return life_ms / (a->own_file ? 3 : 10);
}

static const char *remedy(const struct accesskeeper *a, enum credential which)
{
	if (which == SERVING_CERTIFICATE)
		return "it should have been renewed";
	if (which == CLIENT_CERTIFICATE)
		return "replace the kubeconfig; kscaled needs no restart";
	return a->own_file ? "it could not be renewed; once it has expired, run: kscaled join"
			   : "the owner of its file should have renewed it";
}

/* Once a day while it lasts. */
static void warn_of_end(struct accesskeeper *a, enum credential which)
{
	struct end *end = &a->ends[which];
	int64_t now = timestamp_now_ms();
	char text[TIMESTAMP_TEXT_MAX];

	if (end->unix_ms == 0 || end->unix_ms - now >= warning_ms(a, which)) {
		end->warn_again_ms = 0;
		return;
	}
	if (loop_now_ms(a->loop) < end->warn_again_ms)
		return;
	end->warn_again_ms = loop_now_ms(a->loop) + DAY_MS;
	log_warn(SUBJECT, "%s %s at %s: %s", words_of[which], now < end->unix_ms ? "ends" : "ended",
		timestamp_format(end->unix_ms, text), remedy(a, which));
}

static void show_ends(struct accesskeeper *a)
{
	a->ends[SERVING_CERTIFICATE].unix_ms = a->config.serving_until ? a->config.serving_until(a->config.arg) : 0;
	for (int i = 0; i < CREDENTIALS; i++) {
		const char *labels[] = { label_of[i] };

		if (a->ends_shown && a->ends[i].unix_ms > 0)
			counters_set(a->ends_shown, labels, (double)a->ends[i].unix_ms / 1000);
		else if (a->ends_shown)
			counters_remove(a->ends_shown, labels);
	}
}

/* ---- The files ---- */

static void watch_files(struct accesskeeper *a)
{
	const struct files *files = &a->config.access->files;

	for (size_t i = 0; a->watch && i < files->count; i++)
		filewatch_add(a->watch, files->entries[i].path);
}

/* asked: log the result in any case. */
static void read_files(struct accesskeeper *a, bool asked)
{
	struct err err;
	bool changed;

	if (kube_refresh(a->kube, &changed, &err) < 0) {
		err_wrap(&err, "the old ones stay in use");
		if (asked)
			log_warn(SUBJECT, "%s", err.msg);
		else
			say_trouble(a, &err);
		return;
	}
	read_facts(a);
	watch_files(a);
	if (changed || asked)
		log_info(SUBJECT, "%s: %s", a->config.access->source, changed ? "read again" : "nothing has changed");
	if (changed)
		err_keep(&a->told, NULL);
}

/* ---- Renewal ---- */

static void schedule(struct accesskeeper *a);

static void renewal_failed(struct accesskeeper *a, const struct err *err)
{
	struct err said = *err;
	MEM_AUTO char *account = mem_printf("%s/%s", a->token.namespace_, a->token.account);

	err_wrap(&said, "renewing the token of ServiceAccount %s%s", account,
		err->kind == ERR_DENIED ? " (create on serviceaccounts/token)" : "");
	say_trouble(a, &said);
	a->not_before_ms = loop_now_ms(a->loop) + loop_backoff_ms(a->failures++, BACKOFF_FIRST_MS, BACKOFF_MAX_MS);
}

/*
 * Wait after a renewal: from the server's two times alone, as our clock may be wrong; at least
 * PAUSE_MIN_MS, however short the token's life.
 */
static int64_t pause_ms(const struct accesskeeper *a)
{
	int64_t third_ms = (a->token.ends_unix_ms - a->token.issued_unix_ms) / 3;

	return a->token.issued_unix_ms > 0 && third_ms > PAUSE_MIN_MS ? third_ms : PAUSE_MIN_MS;
}

static void take_token(struct accesskeeper *a, const char *token)
{
	char text[TIMESTAMP_TEXT_MAX];
	struct err err;

	if (!*token)
		err_set(&err, ERR_TEMPORARY, "the answer has no token");
	if (!*token || file_replace(a->own_file, token, strlen(token), &err) < 0) {
		err_wrap(&err, "%s", a->own_file);
		renewal_failed(a, &err);
		return;
	}
	read_files(a, false);
	a->failures = 0;
	a->not_before_ms = loop_now_ms(a->loop) + pause_ms(a);
	err_keep(&a->told, NULL);
	log_info(SUBJECT, "%s: renewed, good until %s", a->own_file,
		a->token.ends_unix_ms ? timestamp_format(a->token.ends_unix_ms, text) : "further notice");
}

static void on_token(void *arg, const json_t *object, const struct err *err)
{
	struct accesskeeper *a = arg;

	a->call = NULL;
	if (err)
		renewal_failed(a, err);
	else if (a->own_file) /* unset if the kubeconfig has changed meanwhile */
		take_token(a, json_str_or_empty(json_object_get(object, "status"), "token"));
	schedule(a);
}

/* If our clock is behind the server's, the token's age is unknown: then only the pause counts. */
static bool is_due(const struct accesskeeper *a)
{
	int64_t due = tokenfacts_renew_unix_ms(&a->token), now = timestamp_now_ms();
	bool is_behind = now + SKEW_MS < a->token.issued_unix_ms;

	return a->own_file && !a->call && due > 0 && (now >= due || is_behind) &&
		loop_now_ms(a->loop) >= a->not_before_ms;
}

/*
 * The new token need not be bound to the same object as the old one. It changes nothing in the
 * cluster, so every replica may do it.
 */
static void renew(struct accesskeeper *a)
{
	char escaped[NAME_MAX_BYTES];
	MEM_AUTO char *path = NULL;
	char body[160];
	struct kube_request request = { .verb = KUBE_REVIEW, .body = body, .priority = KUBE_NORMAL };

	if (!kube_escape(a->token.account, escaped, sizeof escaped))
		return;
	request.path = path = mem_printf("/api/v1/namespaces/%s/serviceaccounts/%s/token", a->token.namespace_,
		escaped);
	snprintf(body, sizeof body,
		"{\"apiVersion\":\"authentication.k8s.io/v1\",\"kind\":\"TokenRequest\",\"spec\":{"
		"\"expirationSeconds\":%d}}",
		TOKEN_LIFE_S);
	a->call = kube_call(a->kube, &request, on_token, a);
}

/* ---- Timing ---- */

static int64_t next_look_ms(const struct accesskeeper *a)
{
	int64_t backoff_ms = a->not_before_ms - loop_now_ms(a->loop);

	return a->failures > 0 && backoff_ms > 0 && backoff_ms < LOOK_MS ? backoff_ms : LOOK_MS;
}

static void schedule(struct accesskeeper *a)
{
	show_ends(a);
	for (int i = 0; i < CREDENTIALS; i++)
		warn_of_end(a, (enum credential)i);
	if (is_due(a))
		renew(a);
	loop_timer_set(&a->timer, next_look_ms(a));
}

/* The client itself may have reread the files, after a 401. */
static void on_timer(void *arg)
{
	struct accesskeeper *a = arg;

	read_files(a, false);
	schedule(a);
}

void accesskeeper_reload(struct accesskeeper *a)
{
	read_files(a, true);
	schedule(a);
}

const char *accesskeeper_token_file(const struct accesskeeper *a)
{
	return a->own_file;
}

/* ---- Life ---- */

static void declare(struct accesskeeper *a, struct counters *counters)
{
	static const char *const labels[] = { "credential", NULL };

	if (counters)
		a->ends_shown = counters_declare(counters, COUNTERS_GAUGE,
			"kscaled_credentials_expiry_timestamp_seconds",
			"Expiry of the client certificate, of the token for the API server and of the serving "
			"certificate.",
			labels);
}

struct accesskeeper *accesskeeper_new(struct kube *kube, struct counters *counters,
	const struct accesskeeper_config *config)
{
	struct accesskeeper *a = mem_zalloc(sizeof *a);

	a->kube = kube;
	a->loop = kube_loop(kube);
	a->config = *config;
	declare(a, counters);
	a->watch = filewatch_new(a->loop, on_timer, a);
	if (!a->watch)
		log_warn(SUBJECT, "files cannot be watched: %s; they are checked twice a minute", strerror(errno));
	loop_timer_init(&a->timer, a->loop, on_timer, a);
	read_facts(a);
	watch_files(a);
	loop_timer_set(&a->timer, 0);
	return a;
}

void accesskeeper_free(struct accesskeeper *a)
{
	if (!a)
		return;
	filewatch_free(a->watch);
	kube_cancel(a->call);
	loop_timer_done(&a->timer);
	err_keep(&a->told, NULL);
	free(a->own_file);
	free(a);
}
