/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_CASEFILE_H
#define CLI_DOCTOR_CASEFILE_H

/*
 * What a judgement of `kscaled doctor` looks at: how kscaled is set up, the time, and the facts
 * that gather.c has collected. A judgement asks nobody else, so that unit tests give it facts as
 * JSON.
 *
 * Facts are one JSON object. Each member is {"object": ...}, what was answered; or {"error": KIND,
 * "message": TEXT, "wanted": "get on services kscaled/kscaled"}, with KIND as err_kind_name has it.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/doctor/diagnosis.h"

struct doctor_setup { /* strings are borrowed; NULL: not set */
	/* Of the daemon's options. */
	const char *kubeconfig;   /* NULL: the service account of the Pod */
	const char *namespace_;   /* its own, never NULL once the kubeconfig is read */
	const char *service_name; /* never NULL, as the next two */
	const char *lease_name;
	const char *keda_namespace;   /* NULL: KEDA does not matter */
	const char *watch_namespaces; /* "a,b"; NULL: all */
	const char *tls_cert_file;    /* NULL: kscaled has an authority of its own */
	int secure_port;
	bool webhook, restrict_secrets, take_over, no_lease;
	/* Of `kscaled manifests`. */
	const char *host;        /* "HOST:PORT" */
	const char *scale_kinds; /* NULL: all */
	bool no_scaledjobs, service_account_tokens;
};

struct casefile {
	const struct doctor_setup *setup;
	json_t *facts;   /* borrowed */
	int64_t now_ms;  /* the wall clock */
	const char *hop; /* which is judged */
	struct diagnosis *out;
};

/* ---- Facts ---- */

/* Borrowed; NULL: there is none, or an error. */
const json_t *casefile_object(const struct casefile *c, const char *fact);
/* The message of the error; "": none. */
const char *casefile_message(const struct casefile *c, const char *fact);
/* The API server said that there is no such object. */
bool casefile_lacks(const struct casefile *c, const char *fact);
/*
 * The object, or NULL: then it is lacking, or (*told) it could not be read, which is among the
 * findings now: a right that the user lacks as not looked at, everything else as an error.
 */
const json_t *casefile_read(const struct casefile *c, const char *fact, bool *told);

/* Below an object, by names separated by dots. NULL, or "": there is none. */
const json_t *casefile_at(const json_t *object, const char *path);
const char *casefile_text_at(const json_t *object, const char *path);
/* The condition of this type in status.conditions; NULL: none. */
const json_t *casefile_condition(const json_t *object, const char *type);
/* metadata.namespace and metadata.name. */
const char *casefile_namespace_of(const json_t *object);
const char *casefile_name_of(const json_t *object);
/* "2026-01-02T03:04:05Z" as milliseconds; 0: it is none. */
int64_t casefile_time_at(const json_t *object, const char *path);

/* Whether the PEM text of a decoded caBundle, NULL: none, has this certificate, whatever else. */
bool casefile_bundle_has(const char *bundle, const char *certificate);

/* ---- Findings ---- */

void casefile_fine(const struct casefile *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void casefile_skip(const struct casefile *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* mend: taken, may be NULL. */
void casefile_warn(const struct casefile *c, char *mend, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void casefile_wrong(const struct casefile *c, char *mend, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* ---- Commands that mend; the caller owns them ---- */

/* `kscaled manifests ... | kubectl apply -f -` with the options that fit this set-up. */
char *casefile_apply(const struct casefile *c);
/* Starts kscaled anew, where it runs. */
char *casefile_restart(const struct casefile *c);

#endif
