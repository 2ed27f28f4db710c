/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_FACTS_H
#define CLI_DOCTOR_FACTS_H

/*
 * The input of each check of `kscaled doctor`: kscaled's setup, the time, and the facts that
 * gather.c has collected. Checks read nothing else, so unit tests feed them JSON.
 *
 * Facts are one JSON object. Each member is {"object": ...}, the answer; or {"error": KIND,
 * "message": TEXT, "wanted": "get on services kscaled/kscaled"}, KIND as by err_kind_name.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stdint.h>

#include "cli/doctor/diagnosis.h"
#include "cli/fields.h"
#include "cli/manifests.h"

/* What installed the objects in the cluster, and can do so again. */
enum doctor_installer { DOCTOR_MANIFESTS, DOCTOR_HELM, DOCTOR_JOIN, DOCTOR_OTHERS };

struct doctor_setup {        /* strings are borrowed; NULL: not set */
	const char *program; /* how the user calls it: "kscaled", NULL, or "kubectl kscaled" */
	/* What the command line set, which overrides what the cluster tells; NULL: nothing. */
	const struct doctor_setup *given;
	/*
	 * Options of `kscaled manifests` that make this installation. namespace_ is not NULL once
	 * the kubeconfig is read, service_name never.
	 */
	struct manifests_params manifests;
	/* Of the daemon's options. */
	const char *kubeconfig;     /* NULL: the service account of the Pod */
	const char *lease_name;     /* never NULL */
	const char *keda_namespace; /* NULL: ignore KEDA */
	const char *tls_cert_file;  /* NULL: kscaled has its own CA */
	int secure_port;
	bool take_over, no_lease;
	/* Of the installation, read from its objects (release.c). */
	enum doctor_installer installer;
	const char *release;           /* Helm's release name; or "it is managed by x" */
	const char *release_namespace; /* Helm's */
	const char *version;           /* of kscaled; NULL: unknown */
	const char *account;           /* of the Pod; NULL: "kscaled" */
	const char *joined;            /* the arguments of `kscaled join`; NULL: unknown */
	const char *admin;             /* an administrator's kubeconfig; NULL: unknown */
	bool guessed_namespace;        /* set neither by an option nor by the Pod */
	bool lost_kinds;               /* the kinds it may scale are unknown; manifests.scale_kinds is the minimum */
	bool in_pod;                   /* it has a Deployment */
	bool outside;                  /* it surely has none: kscaled runs outside the cluster */
	bool knows_roles;              /* the roles could be listed */
	bool no_roles;                 /* it has none: its rights are granted by other means */
};

struct facts {
	const struct doctor_setup *setup;
	const char *namespace_, *service, *account; /* kscaled's, of the setup */
	json_t *facts;                              /* borrowed */
	int64_t now_ms;                             /* the wall clock */
	const char *hop;                            /* being checked */
	struct diagnosis *out;
};

/* ---- Facts ---- */

/* Borrowed. NULL: missing, or an error. */
const json_t *facts_object(const struct facts *c, const char *fact);
/* The API server answered that the object does not exist. */
bool facts_lacks(const struct facts *c, const char *fact);
/*
 * Whether the answer is known: the object, or that it does not exist. Otherwise adds a finding:
 * skipped if the user lacks the right, else an error.
 */
bool facts_known(const struct facts *c, const char *fact);

/* The container `kscaled` of the Deployment; NULL: none. */
const json_t *facts_container(const json_t *facts);

/* ---- Findings ---- */

void facts_ok(const struct facts *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void facts_skip(const struct facts *c, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* mend: taken, may be NULL. */
void facts_warn(const struct facts *c, char *mend, const char *fmt, ...) __attribute__((format(printf, 3, 4)));
void facts_error(const struct facts *c, char *mend, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/*
 * Whether a caBundle, in base64, contains the CA (PEM; "": any will do); false: a finding says that
 * it does not. what: "the APIService"; mend: taken.
 */
bool facts_bundle(const struct facts *c, const char *what, const char *encoded, const char *ca, char *mend);

/* ---- Fixes; the caller owns them ---- */

/*
 * A fix ("mend") is a command, with placeholders in capitals; or a sentence with commands and
 * options in backquotes. Tests run them.
 */

#define FACTS_SET_CLOCK "sudo timedatectl set-ntp true"

/* How the user calls kscaled. Borrowed. */
const char *facts_program(const struct facts *c);
/* Puts a command in backquotes; leaves a sentence as it is. Takes mend. */
char *facts_quote(char *mend);

/*
 * Applies the installation's objects again the way they were made: `helm upgrade ...`, `sudo
 * kscaled join ...`, or `kscaled manifests ... | kubectl apply -f -` with this setup's options.
 * Grants no right that the installation did not have.
 */
char *facts_apply(const struct facts *c);
/*
 * The same with one change: Helm values ("a.b=c") or options appended to `kscaled manifests`. A
 * host that was joined has neither.
 */
char *facts_apply_with(const struct facts *c, const char *values, const char *options);
/* `sudo kscaled join ...` as last called; NULL: not installed that way. */
char *facts_join(const struct facts *c);
/* The same, if the kubeconfig in use was written by `kscaled join`. */
char *facts_join_here(const struct facts *c);
/* As facts_apply, with another address of the host. */
char *facts_apply_at(const struct facts *c, const char *host);
/* `kscaled explain so shop/web`; kind: "so", "sj", or "" for either. */
char *facts_explain(const struct facts *c, const char *kind, const char *namespace_, const char *name);
/* Restarts kscaled, in its Pods or on its host. */
char *facts_restart(const struct facts *c);

#endif
