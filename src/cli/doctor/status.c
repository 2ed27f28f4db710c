/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/checks.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/timestamp.h"
#include "control/certs/certs.h"
#include "net/tls/x509.h"

/* More findings than this are only counted. */
#define REPORTED_MAX 20

/* The time until a new object has a status. */
#define NEW_MS INT64_C(10000)

/* ---- Objects and their sources ---- */

/* How an object is judged by its condition Ready. */
enum state { HEALTHY, UNHANDLED /* no kscaled reconciles it */, NOT_READY, SOURCE_FAILS, STATES };

struct object_counts {
	const struct facts *c;
	bool at_sources; /* report SOURCE_FAILS only; false: all others */
	size_t counts[STATES], all, reported;
};

static enum state state_of(const struct object_counts *l, const json_t *object)
{
	/* Reasons of decide/conditions and decide/jobs/jobconditions. */
	static const char *const of_sources[] = { "TriggerError", "PartialTriggerError", NULL };
	const json_t *ready = fields_condition(object, "Ready");
	bool is_new = l->c->now_ms - fields_time(object, "metadata.creationTimestamp") < NEW_MS;

	if (!ready)
		return is_new ? HEALTHY : UNHANDLED;
	if (json_str_is(ready, "status", "True"))
		return HEALTHY;
	return text_is_one_of(json_str_or_empty(ready, "reason"), of_sources) ? SOURCE_FAILS : NOT_READY;
}

static void report(const struct facts *c, enum state state, const char *kind, const char *word, const json_t *object)
{
	const json_t *ready = fields_condition(object, "Ready");
	const char *ns = fields_namespace(object), *name = fields_name(object),
		   *reason = json_str_or_empty(ready, "reason"), *message = json_str_or_empty(ready, "message");

	if (state == UNHANDLED)
		facts_error(c, facts_restart(c), "%s %s/%s has no condition Ready: no kscaled reconciles it", kind, ns,
			name);
	else if (state == NOT_READY)
		facts_error(c, facts_explain(c, word, ns, name), "%s %s/%s is not Ready: %s: %s", kind, ns, name,
			reason, message);
	else
		facts_warn(c, facts_explain(c, word, ns, name),
			"a source of %s %s/%s fails, kscaled itself works: %s: %s", kind, ns, name, reason, message);
}

static void check_object(struct object_counts *l, const char *kind, const char *word, const json_t *object)
{
	enum state state = state_of(l, object);

	l->all++;
	l->counts[state]++;
	if (state == HEALTHY || (state == SOURCE_FAILS) != l->at_sources)
		return;
	if (++l->reported <= REPORTED_MAX)
		report(l->c, state, kind, word, object);
}

/* false: reading them failed, and a finding says so. */
static bool check_all(struct object_counts *l, const char *fact, const char *kind, const char *word)
{
	const json_t *object;
	size_t i;

	json_array_foreach(fields_at(facts_object(l->c, fact), "items"), i, object) check_object(l, kind, word, object);
	return facts_known(l->c, fact);
}

static bool look_at_all(struct object_counts *l)
{
	bool read = check_all(l, "scaledobjects", "ScaledObject", "so");

	if (!l->c->setup->manifests.no_scaledjobs)
		read &= check_all(l, "scaledjobs", "ScaledJob", "sj");
	if (l->reported > REPORTED_MAX)
		diagnosis_more(l->c->out, l->c->hop, l->reported - REPORTED_MAX,
			mem_printf("%s get", facts_program(l->c)));
	return read;
}

void status_objects(const struct facts *c)
{
	struct object_counts look = { .c = c };
	size_t jobs = json_array_size(fields_at(c->facts, "scaledjobs.object.items"));
	bool read = look_at_all(&look);

	if (c->setup->manifests.no_scaledjobs && c->setup->knows_roles && jobs > 0)
		facts_warn(c, NULL, "%zu ScaledJobs are ignored: kscaled was installed without rights on Jobs", jobs);
	if (read && look.reported == 0 && look.all == 0)
		facts_ok(c, "none yet");
	else if (read && look.reported == 0 && look.counts[SOURCE_FAILS] > 0)
		facts_ok(c, "all %zu are reconciled; a source of %zu fails, see below", look.all,
			look.counts[SOURCE_FAILS]);
	else if (read && look.reported == 0)
		facts_ok(c, "all %zu are Ready", look.all);
}

void status_sources(const struct facts *c)
{
	struct object_counts look = { .c = c, .at_sources = true };

	if (look_at_all(&look) && look.reported == 0)
		facts_ok(c, "none fails");
}

/* ---- Certificates ---- */

static char *renew(const struct facts *c)
{
	return c->setup->tls_cert_file ? mem_printf("write a new certificate to %s", c->setup->tls_cert_file)
				       : facts_restart(c);
}

/* kscaled renews with a third of the life left (control/certs/certpack). */
static void check_certificate(const struct facts *c, const char *what, const char *pem)
{
	char until[TIMESTAMP_TEXT_MAX];
	struct x509_facts facts;
	struct err err = { 0 };
	int64_t left_ms, life_ms;

	if (x509_read(pem, &facts, &err) < 0) {
		facts_error(c, renew(c), "the %s cannot be read: %s", what, err.msg);
		return;
	}
	left_ms = facts.not_after_unix_ms - c->now_ms;
	life_ms = facts.not_after_unix_ms - facts.not_before_unix_ms;
	timestamp_format(facts.not_after_unix_ms, until);
	if (left_ms <= 0)
		facts_error(c, renew(c), "the %s expired at %s", what, until);
	else if (facts.not_before_unix_ms > c->now_ms)
		facts_error(c, mem_dup(FACTS_SET_CLOCK),
			"the %s is not valid yet: the clock of this host, or of the one that made it, is wrong", what);
	else if (left_ms < life_ms / 4)
		facts_warn(c, renew(c), "the %s expires at %s and should have been renewed by now", what, until);
	else
		facts_ok(c, "the %s is valid until %s", what, until);
}

void status_certificates(const struct facts *c)
{
	const char *ca = fields_text(c->facts, "certificates.object.ca"),
		   *serving = fields_text(c->facts, "certificates.object.serving");

	if (!*serving)
		facts_error(c, renew(c), "no serving certificate in Secret %s/" CERTS_SECRET, c->namespace_);
	else
		check_certificate(c, "serving certificate", serving);
	if (*ca)
		check_certificate(c, "CA certificate", ca);
}
