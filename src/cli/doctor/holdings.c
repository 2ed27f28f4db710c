/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/holdings.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "control/certs/certs.h"
#include "net/tls/x509.h"

/* So many objects are told each by itself. */
#define TOLD_MAX 20

/* What a status takes to be written. */
#define NEW_MS INT64_C(10000)

/* ---- Objects, and their sources ---- */

/* How an object is judged by its condition Ready. */
enum state { WELL, UNKEPT /* nobody looks after it */, REFUSED, SOURCELESS /* a source of it fails */, STATES };

struct round {
	const struct casefile *c;
	bool at_sources; /* else at all but those */
	size_t counts[STATES], all, told;
};

static enum state state_of(const struct round *l, const json_t *object)
{
	/* Reasons of decide/conditions and decide/jobs/jobconditions. */
	static const char *const of_sources[] = { "TriggerError", "PartialTriggerError", NULL };
	const json_t *ready = casefile_condition(object, "Ready");
	bool is_new = l->c->now_ms - casefile_time_at(object, "metadata.creationTimestamp") < NEW_MS;

	if (!ready)
		return is_new ? WELL : UNKEPT;
	if (json_str_is(ready, "status", "True"))
		return WELL;
	return text_is_one_of(json_str_or_empty(ready, "reason"), of_sources) ? SOURCELESS : REFUSED;
}

static void tell(const struct casefile *c, enum state state, const char *kind, const char *word, const json_t *object)
{
	const json_t *ready = casefile_condition(object, "Ready");
	const char *ns = casefile_namespace_of(object), *name = casefile_name_of(object),
		   *reason = json_str_or_empty(ready, "reason"), *message = json_str_or_empty(ready, "message");

	if (state == UNKEPT)
		casefile_wrong(c, casefile_restart(c), "%s %s/%s has no condition Ready: nobody looks after it", kind,
			ns, name);
	else if (state == REFUSED)
		casefile_wrong(c, casefile_explain(c, word, ns, name), "%s %s/%s is not Ready: %s: %s", kind, ns, name,
			reason, message);
	else
		casefile_warn(c, casefile_explain(c, word, ns, name),
			"a source of %s %s/%s fails, while kscaled is well: %s: %s", kind, ns, name, reason, message);
}

static void judge_object(struct round *l, const char *kind, const char *word, const json_t *object)
{
	enum state state = state_of(l, object);

	l->all++;
	l->counts[state]++;
	if (state == WELL || (state == SOURCELESS) != l->at_sources)
		return;
	if (++l->told <= TOLD_MAX)
		tell(l->c, state, kind, word, object);
}

/* false: they could not be read, which is told. */
static bool judge_all(struct round *l, const char *fact, const char *kind, const char *word)
{
	bool told;
	const json_t *list = casefile_read(l->c, fact, &told), *object;
	size_t i;

	json_array_foreach(json_object_get(list, "items"), i, object) judge_object(l, kind, word, object);
	return !told;
}

static bool look_at_all(struct round *l)
{
	const struct doctor_setup *s = l->c->setup;
	bool read = judge_all(l, "scaledobjects", "ScaledObject", "so");

	if (!s->no_scaledjobs)
		read &= judge_all(l, "scaledjobs", "ScaledJob", "sj");
	if (l->told > TOLD_MAX)
		diagnosis_more(l->c->out, l->c->hop, l->told - TOLD_MAX,
			mem_printf("%s get", s->program ? s->program : "kscaled"));
	return read;
}

void holdings_objects(const struct casefile *c)
{
	struct round look = { .c = c };
	size_t jobs = json_array_size(casefile_at(casefile_object(c, "scaledjobs"), "items"));
	bool read = look_at_all(&look);

	if (c->setup->no_scaledjobs && c->setup->knows_roles && jobs > 0)
		casefile_warn(c, NULL, "%zu ScaledJobs are not followed: kscaled was installed without rights on Jobs",
			jobs);
	if (read && look.told == 0 && look.all == 0)
		casefile_fine(c, "there are none yet");
	else if (read && look.told == 0 && look.counts[SOURCELESS] > 0)
		casefile_fine(c, "all %zu are taken up; of %zu a source fails, see below", look.all,
			look.counts[SOURCELESS]);
	else if (read && look.told == 0)
		casefile_fine(c, "all %zu are Ready", look.all);
}

void holdings_sources(const struct casefile *c)
{
	struct round look = { .c = c, .at_sources = true };

	if (look_at_all(&look) && look.told == 0)
		casefile_fine(c, "none fails that objects tell of");
}

/* ---- Certificates ---- */

static char *renew(const struct casefile *c)
{
	return c->setup->tls_cert_file ? mem_printf("a new certificate in %s", c->setup->tls_cert_file)
				       : casefile_restart(c);
}

/* kscaled renews each when a third of its life is left (control/certs/certpack). */
static void judge_certificate(const struct casefile *c, const char *what, const char *pem)
{
	char until[TIMESTAMP_TEXT_MAX];
	struct x509_facts facts;
	struct err err = { 0 };
	int64_t left_ms, life_ms;

	if (x509_read(pem, &facts, &err) < 0) {
		casefile_wrong(c, renew(c), "the %s cannot be read: %s", what, err.msg);
		return;
	}
	left_ms = facts.not_after_unix_ms - c->now_ms;
	life_ms = facts.not_after_unix_ms - facts.not_before_unix_ms;
	timestamp_format(facts.not_after_unix_ms, until);
	if (left_ms <= 0)
		casefile_wrong(c, renew(c), "the %s ended at %s", what, until);
	else if (facts.not_before_unix_ms > c->now_ms)
		casefile_wrong(c, mem_dup(CASEFILE_SET_CLOCK),
			"the %s is not valid yet: the clock of this host, or of the one that made it, is wrong", what);
	else if (left_ms < life_ms / 4)
		casefile_warn(c, renew(c), "the %s ends at %s, and should have been renewed by now", what, until);
	else
		casefile_fine(c, "the %s is good until %s", what, until);
}

void holdings_certificates(const struct casefile *c)
{
	bool told;
	const json_t *certificates = casefile_read(c, "certificates", &told);
	const char *ca = json_str_or_empty(certificates, "ca"), *serving = json_str_or_empty(certificates, "serving");

	if (told)
		return;
	if (!*serving)
		casefile_wrong(c, renew(c), "there is no serving certificate in Secret %s/" CERTS_SECRET,
			c->setup->namespace_);
	else
		judge_certificate(c, "serving certificate", serving);
	if (*ca)
		judge_certificate(c, "authority", ca);
}
