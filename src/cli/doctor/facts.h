/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_FACTS_H
#define CLI_DOCTOR_FACTS_H

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

/* Who made the objects in the cluster, and can make them again. */
enum doctor_installer { DOCTOR_MANIFESTS, DOCTOR_HELM, DOCTOR_JOIN, DOCTOR_OTHERS };

/* What the command line says, which the cluster does not override. */
enum {
	DOCTOR_GIVEN_SERVICE = 1 << 0,
	DOCTOR_GIVEN_WATCH = 1 << 1,
	DOCTOR_GIVEN_KEDA = 1 << 2,
};

struct doctor_setup {        /* strings are borrowed; NULL: not set */
	const char *program; /* how a user runs it: "kscaled", NULL, or "kubectl kscaled" */
	/* Of the daemon's options. */
	const char *kubeconfig;   /* NULL: the service account of the Pod */
	const char *namespace_;   /* its own, never NULL once the kubeconfig is read */
	bool guessed_namespace;   /* neither an option nor the Pod names it */
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
	unsigned given; /* DOCTOR_GIVEN_... */
	/* Of the installation, as its objects tell (release.c). */
	enum doctor_installer installer;
	const char *release;           /* Helm's name of it; of others: "it is managed by x" */
	const char *release_namespace; /* Helm's */
	const char *version;           /* of kscaled's; NULL: unknown */
	const char *account;           /* of the Pod; NULL: "kscaled" */
	const char *image, *replicas, *priority_class, *monitor; /* as of `kscaled manifests` */
	const char *joined; /* how `kscaled join` was called, without its name; NULL: unknown */
	const char *admin;  /* a kubeconfig that may join; NULL: not known */
	bool network_policy, others_crds;
	bool lost_kinds;  /* nothing tells which kinds it may scale: scale_kinds are the least */
	bool in_pod;      /* it has a Deployment */
	bool knows_roles; /* which there are could be read */
	bool no_roles;    /* it has none: somebody else grants the rights */
};

struct facts {
	const struct doctor_setup *setup;
	json_t *facts;   /* borrowed */
	int64_t now_ms;  /* the wall clock */
	const char *hop; /* which is judged */
	struct diagnosis *out;
};

/* ---- Facts ---- */

/* Borrowed; NULL: there is none, or an error. */
const json_t *facts_object(const struct facts *c, const char *fact);
/* The message of the error; "": none. */
const char *facts_message(const struct facts *c, const char *fact);
/* The API server said that there is no such object. */
bool facts_lacks(const struct facts *c, const char *fact);
/*
 * The object, or NULL: then it is lacking, or (*told) it could not be read, which is among the
 * findings now: a right that the user lacks as not looked at, everything else as an error.
 */
const json_t *facts_read(const struct facts *c, const char *fact, bool *reported);

/* Below an object, by names separated by dots. NULL, or "": there is none. */
const json_t *facts_at(const json_t *object, const char *path);
const char *facts_text_at(const json_t *object, const char *path);
/* The condition of this type in status.conditions; NULL: none. */
const json_t *facts_condition(const json_t *object, const char *type);
/* The container `kscaled` of a Deployment; NULL: none. */
const json_t *facts_container(const json_t *deployment);
/* metadata.namespace and metadata.name. */
const char *facts_namespace_of(const json_t *object);
const char *facts_name_of(const json_t *object);
/* "2026-01-02T03:04:05Z" as milliseconds; 0: it is none. */
int64_t facts_time_at(const json_t *object, const char *path);

/* Whether the PEM text of a decoded caBundle, NULL: none, has this certificate, whatever else. */
bool facts_bundle_has(const char *bundle, const char *certificate);

/* ---- Findings ---- */

void facts_ok(const struct facts *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void facts_skip(const struct facts *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* mend: taken, may be NULL. */
void facts_warn(const struct facts *c, char *mend, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void facts_error(const struct facts *c, char *mend, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/* ---- Commands that mend; the caller owns them ---- */

/*
 * A mend is a command, as it stands but for words in capitals, which are the user's to replace; or
 * a sentence, in which commands and options stand between backquotes. Tests run them.
 */

#define FACTS_SET_CLOCK "sudo timedatectl set-ntp true"

/* How a user runs kscaled. Borrowed. */
const char *facts_program(const struct facts *c);
/* As a part of a sentence: between backquotes, unless it is a sentence. Takes mend. */
char *facts_quote(char *mend);

/*
 * Makes the objects of the installation again, as they were made: `helm upgrade ...`,
 * `sudo kscaled join ...`, or `kscaled manifests ... | kubectl apply -f -` with the options of this
 * set-up. Gives no right that it was made without.
 */
char *facts_apply(const struct facts *c);
/*
 * The same with one thing changed: values of Helm's, "a.b=c"; options of `kscaled manifests`,
 * which come last. kscaled on a host has neither.
 */
char *facts_apply_with(const struct facts *c, const char *values, const char *options);
/* `sudo kscaled join ...` as the host was joined; NULL: none was. */
char *facts_join(const struct facts *c);
/* The same, if the kubeconfig by which is asked is the one of a host that was joined. */
char *facts_join_here(const struct facts *c);
/* As facts_apply, with this address of the host. */
char *facts_apply_at(const struct facts *c, const char *host);
/* `kscaled explain so shop/web`; kind: "so", "sj", or "" for either. */
char *facts_explain(const struct facts *c, const char *kind, const char *namespace_, const char *name);
/* Starts kscaled anew, where it runs. */
char *facts_restart(const struct facts *c);

#endif
