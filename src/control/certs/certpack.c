/* SPDX-License-Identifier: Apache-2.0 */
#include "control/certs/certpack.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/mem.h"

#define CA_NAME    "kscaled CA"
#define OVERLAP_MS (24 * 3600 * 1000LL + X509_BACKDATE_S * 1000LL) /* certificates are backdated */
#define VALUE_MAX  (64u << 10) /* of one value in the Secret, base64; ours are below 2 KiB */

static const char *const no_names[] = { NULL };

void certpack_done(struct certpack *p)
{
	x509_pair_done(&p->serving);
	x509_pair_done(&p->ca);
	free(p->old_ca);
	memset(p, 0, sizeof *p);
}

static void copy_pair(struct x509_pair *to, const struct x509_pair *from)
{
	to->cert_pem = mem_dup(from->cert_pem);
	to->key_pem = mem_dup(from->key_pem);
}

void certpack_copy(struct certpack *to, const struct certpack *from)
{
	copy_pair(&to->serving, &from->serving);
	copy_pair(&to->ca, &from->ca);
	to->old_ca = mem_dup(from->old_ca);
}

/* ---- Judging ---- */

struct validity {
	int64_t from, due, end; /* unix ms */
};

static int read_span(const char *cert_pem, struct validity *out, struct err *err)
{
	struct x509_facts facts;

	if (!cert_pem)
		return err_set(err, ERR_MISSING, "missing");
	if (x509_read(cert_pem, &facts, err) != 0)
		return -1;
	out->from = facts.not_before_unix_ms;
	out->end = facts.not_after_unix_ms;
	out->due = out->end - (out->end - out->from) / 3;
	return 0;
}

/* Whether it can be read and is valid now; if not, *why says it. */
static bool is_valid(const char *what, const char *cert_pem, int64_t now, struct validity *span, char *why, size_t size)
{
	struct err err;

	*span = (struct validity){ 0 };
	if (read_span(cert_pem, span, &err) != 0) {
		snprintf(why, size, "%s: %.200s", what, err.msg);
		return false;
	}
	if (now >= span->from && now < span->end)
		return true;
	snprintf(why, size, "%s: %s", what, now < span->from ? "not valid yet" : "expired");
	return false;
}

static bool pair_fits(const char *what, const struct x509_pair *pair, const char *ca_pem, const char *const *names,
	char *why, size_t size)
{
	char reason[160] = "";

	if (pair->key_pem && x509_fits(pair->cert_pem, pair->key_pem, ca_pem, names, reason, sizeof reason))
		return true;
	snprintf(why, size, "%s: %s", what, pair->key_pem ? reason : "its key is missing");
	return false;
}

static int64_t earlier(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* What a usable pack will need, and why. */
static enum certpack_need need_later(const struct certpack_state *judged, bool ca_signs, bool loose, int64_t ca_due,
	int64_t now, const char **why)
{
	if (loose) {
		*why = "ca.crt: its key could sign for other names than ours";
		return CERTPACK_CA;
	}
	if (now < judged->due_unix_ms)
		return CERTPACK_NOTHING;
	*why = now >= ca_due ? "ca.crt: less than a third of its life is left"
			     : "tls.crt: less than a third of its life is left";
	return now >= ca_due || !ca_signs ? CERTPACK_CA : CERTPACK_SERVING;
}

void certpack_judge(const struct certpack *p, const char *const *dns_names, int64_t now, struct certpack_state *out)
{
	struct validity ca, serving;
	char ignored[256];
	const char *why = NULL;
	bool ca_valid, ca_signs, loose;

	memset(out, 0, sizeof *out);
	ca_valid = is_valid("ca.crt", p->ca.cert_pem, now, &ca, out->why, sizeof out->why);
	ca_signs = ca_valid && pair_fits("ca.key", &p->ca, p->ca.cert_pem, no_names, ignored, sizeof ignored);
	/*
	 * A CA with its key here must be limited to our names. Otherwise (from an older version, an
	 * administrator, another Service or namespace) it is replaced like an expiring one,
	 * whatever is left of its life.
	 */
	loose = ca_signs && !x509_ca_is_confined(p->ca.cert_pem, dns_names);
	out->usable = ca_valid && is_valid("tls.crt", p->serving.cert_pem, now, &serving, out->why, sizeof out->why) &&
		pair_fits("tls.crt", &p->serving, p->ca.cert_pem, dns_names, out->why, sizeof out->why);
	if (!out->usable) {
		out->need = ca_signs && !loose && now < ca.due ? CERTPACK_SERVING : CERTPACK_CA;
		return;
	}
	out->until_unix_ms = serving.end;
	out->due_unix_ms = earlier(serving.due, ca.due);
	out->need = need_later(out, ca_signs, loose, ca.due, now, &why);
	if (why)
		snprintf(out->why, sizeof out->why, "%s", why);
}

/* ---- Making ---- */

static bool is_alive(const char *cert_pem, int64_t now)
{
	struct validity span;
	struct err err;

	return cert_pem && read_span(cert_pem, &span, &err) == 0 && now < span.end;
}

static const char *first_alive(const char *const *certs, size_t count, int64_t now)
{
	for (size_t i = 0; i < count; i++)
		if (is_alive(certs[i], now))
			return certs[i];
	return NULL;
}

/*
 * A day after the first certificate of the new CA no replica serves one of the old CA any more:
 * each swaps as soon as the API server trusts the new one. Then the old CA is no longer trusted,
 * valid or not, so that a key leaked from this Secret or a backup is useless.
 */
static bool is_trusted(const char *old_ca, const struct certpack *p, int64_t now)
{
	struct validity serving;
	struct err err;

	return is_alive(old_ca, now) &&
		(read_span(p->serving.cert_pem, &serving, &err) != 0 || now < serving.from + OVERLAP_MS);
}

static const char *old_ca_of(const struct certpack *p, enum certpack_need need, const struct certpack_plan *plan)
{
	bool moved = plan->trusted_ca && (!p->ca.cert_pem || strcmp(plan->trusted_ca, p->ca.cert_pem) != 0);
	const char *const candidates[] = { need == CERTPACK_CA ? p->ca.cert_pem : NULL, moved ? plan->trusted_ca : NULL,
		is_trusted(p->old_ca, p, plan->now_unix_ms) ? p->old_ca : NULL };

	return first_alive(candidates, sizeof candidates / sizeof *candidates, plan->now_unix_ms);
}

static int make_pack(const struct certpack *p, enum certpack_need need, const struct certpack_plan *plan,
	struct certpack *out, struct err *err)
{
	out->old_ca = mem_dup(old_ca_of(p, need, plan));
	if (need == CERTPACK_CA) {
		if (x509_make_ca(CA_NAME, plan->dns_names, plan->now_unix_ms, plan->ca_valid_s, &out->ca, err) != 0)
			return -1;
	} else {
		copy_pair(&out->ca, &p->ca);
	}
	return x509_make_serving(&out->ca, plan->dns_names, plan->now_unix_ms, plan->serving_valid_s, &out->serving,
		err);
}

int certpack_renew(const struct certpack *p, enum certpack_need need, const struct certpack_plan *plan,
	struct certpack *out, struct err *err)
{
	struct certpack_state state;

	if (make_pack(p, need, plan, out, err) != 0)
		return err_wrap(err, "making a certificate");
	/* Otherwise it would be renewed again and again. */
	certpack_judge(out, plan->dns_names, plan->now_unix_ms, &state);
	if (state.need != CERTPACK_NOTHING)
		return err_set(err, ERR_INVALID, "a certificate that was made does not fit: %s", state.why);
	return 0;
}

char *certpack_bundle(const struct certpack *p, int64_t now_unix_ms)
{
	const char *old = is_trusted(p->old_ca, p, now_unix_ms) ? p->old_ca : "", *ca = p->ca.cert_pem;

	if (!ca)
		return NULL;
	return mem_printf("%s%s%s", ca, ca[0] && ca[strlen(ca) - 1] != '\n' && old[0] ? "\n" : "", old);
}

/* ---- The Secret ---- */

static char *value_of(const json_t *data, const char *key)
{
	const char *text = json_string_value(json_object_get(data, key));
	size_t len;
	char *value;

	if (!text || strlen(text) > VALUE_MAX)
		return NULL;
	value = base64_decode(text, &len);
	if (value && strlen(value) == len)
		return value;
	mem_free_secret(value);
	return NULL;
}

void certpack_decode(const json_t *secret, struct certpack *out)
{
	const json_t *data = json_object_get(secret, "data");

	memset(out, 0, sizeof *out);
	out->serving.cert_pem = value_of(data, "tls.crt");
	out->serving.key_pem = value_of(data, "tls.key");
	out->ca.cert_pem = value_of(data, "ca.crt");
	out->ca.key_pem = value_of(data, "ca.key");
	out->old_ca = value_of(data, "ca-old.crt");
}

static void set_value(json_t *data, const char *key, const char *value)
{
	char *text = base64_encode(value, strlen(value));

	json_object_set_new(data, key, json_string(text));
	mem_free_secret(text);
}

static json_t *encode_data(const struct certpack *p, bool as_patch)
{
	json_t *data = json_object();

	set_value(data, "tls.crt", p->serving.cert_pem);
	set_value(data, "tls.key", p->serving.key_pem);
	set_value(data, "ca.crt", p->ca.cert_pem);
	set_value(data, "ca.key", p->ca.key_pem);
	if (p->old_ca)
		set_value(data, "ca-old.crt", p->old_ca);
	else if (as_patch)
		json_object_set_new(data, "ca-old.crt", json_null());
	return data;
}

char *certpack_encode(const struct certpack *p, const char *namespace_, const char *name, const char *resource_version)
{
	json_t *data = encode_data(p, resource_version != NULL), *object;
	char *text;

	if (resource_version)
		object = json_pack("{s:{s:s}, s:o}", "metadata", "resourceVersion", resource_version, "data", data);
	else
		object = json_pack("{s:s, s:s, s:{s:s, s:s, s:{s:s, s:s, s:s}}, s:s, s:o}", "apiVersion", "v1", "kind",
			"Secret", "metadata", "namespace", namespace_, "name", name, "labels", "app.kubernetes.io/name",
			"kscaled", "app.kubernetes.io/part-of", "kscaled", "app.kubernetes.io/managed-by", "kscaled",
			"type", "kubernetes.io/tls", "data", data);
	text = json_text(object);
	json_decref(object);
	return text;
}
