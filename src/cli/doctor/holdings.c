/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor/holdings.h"

#include "base/json.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "control/certs/certs.h"
#include "net/x509.h"

/* So many objects are told each by itself. */
#define TOLD_MAX 20

/* What a status takes to be written. */
#define NEW_MS INT64_C(10000)

/* ---- Objects ---- */

struct count {
	size_t all, wrong;
};

static void judge_object(const struct casefile *c, const char *kind, const char *word, const json_t *object,
	struct count *count)
{
	const json_t *ready = casefile_condition(object, "Ready");
	const char *ns = casefile_namespace_of(object), *name = casefile_name_of(object);
	bool is_new = c->now_ms - casefile_time_at(object, "metadata.creationTimestamp") < NEW_MS;

	count->all++;
	if (json_str_is(ready, "status", "True") || (!ready && is_new))
		return;
	if (++count->wrong > TOLD_MAX)
		return;
	if (!ready)
		casefile_wrong(c, casefile_restart(c), "%s %s/%s has no condition Ready: nobody looks after it", kind,
			ns, name);
	else
		casefile_wrong(c, mem_printf("kscaled explain %s %s/%s", word, ns, name),
			"%s %s/%s is not Ready: %s: %s", kind, ns, name, json_str_or_empty(ready, "reason"),
			json_str_or_empty(ready, "message"));
}

/* false: they could not be read, which is told. */
static bool judge_all(const struct casefile *c, const char *fact, const char *kind, const char *word,
	struct count *count)
{
	bool told;
	const json_t *list = casefile_read(c, fact, &told), *object;
	size_t i;

	json_array_foreach(json_object_get(list, "items"), i, object) judge_object(c, kind, word, object, count);
	return !told;
}

void holdings_objects(const struct casefile *c)
{
	struct count count = { 0, 0 };
	bool read = judge_all(c, "scaledobjects", "ScaledObject", "so", &count);

	if (!c->setup->no_scaledjobs)
		read &= judge_all(c, "scaledjobs", "ScaledJob", "sj", &count);
	if (count.wrong > TOLD_MAX)
		casefile_wrong(c, mem_dup("kscaled get"), "and %zu more", count.wrong - TOLD_MAX);
	if (read && count.wrong == 0 && count.all == 0)
		casefile_fine(c, "there are none yet");
	else if (read && count.wrong == 0)
		casefile_fine(c, "all %zu are Ready", count.all);
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
		casefile_wrong(c, mem_dup("timedatectl set-ntp true"),
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
