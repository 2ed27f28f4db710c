/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OPTIONS_OPTIONS_H
#define OPTIONS_OPTIONS_H

/*
 * The daemon's options: one table defines the command line, the environment, the config file,
 * --help and the checks. A flag overrides the environment, which overrides the config file, which
 * overrides the default. The result is a value. Variables that other programs define and kscaled
 * honours (VAULT_TOKEN, AWS_REGION) are read here, too, and passed on as values. Elsewhere only
 * variables of libraries and the service manager are read (proxies, TZDIR, NOTIFY_SOCKET), by their
 * users.
 */

#include <stdbool.h>
#include <stdint.h>

#include "base/err.h"
#include "base/log.h"
#include "options/commandline.h"

struct options {                    /* strings are owned; NULL: not set, and no default */
	char *kubeconfig;           /* NULL: the in-cluster service account */
	bool renew_token;           /* control/access/accesskeeper */
	char *namespace_;           /* NULL: the daemon determines it */
	char *watch_namespaces;     /* "a,b", without blanks; NULL: all */
	char *bind_address;         /* an IP address; NULL: all addresses, IPv4 and IPv6 */
	uint16_t secure_port;       /* 0: any free one */
	char *status_address;       /* "HOST:PORT", ":PORT", "[::1]:PORT" */
	char *insight_socket;       /* a path; NULL: no socket */
	char *insight_socket_group; /* a name or a number; NULL: none. Only with insight_socket */
	char *service_name;
	char *tls_cert_file; /* this and the next one: both or neither */
	char *tls_private_key_file;
	bool leader_elect;
	char *lease_name;
	int64_t lease_duration_ms; /* > renew_deadline_ms > retry_period_ms > 0 */
	int64_t renew_deadline_ms;
	int64_t retry_period_ms;
	int64_t max_source_connections;
	int64_t metrics_max_age_ms;
	int64_t metrics_deadline_ms;
	int64_t metered_interval_ms;
	int64_t wake_interval_ms;
	int64_t http_timeout_ms;
	char *http_min_tls_version; /* these three: net/tls/tlsrules.h checks the first */
	char *http_tls_cipher_list; /* NULL: the default */
	char *ca_dir;               /* "a,b"; NULL: none */
	bool require_tls;
	enum log_level log_level;
	enum log_format log_format;
	char *identity; /* NULL: host or pod name and a nonce */
	char *state_dir;
	char *keda_namespace; /* NULL: KEDA's Lease is ignored */
	bool take_over;
	bool release_apiservice_on_stop; /* control/certs */
	bool webhook;                    /* control/certs/webhookconfig */
	bool restrict_secret_access;
	bool allow_local_sources; /* net/sourcerules */
	char *cloud_identity;     /* "none", "cluster", "all": who may use kscaled's identity (cache/auth/auth.h) */
	/* "a,b", "*"; NULL: none (net/identity/disclosure) */
	char *azure_trusted_hosts, *aws_trusted_hosts;
	bool cloud_metadata;            /* net/identity/awsown */
	char *cluster_object_namespace; /* NULL: kscaled's namespace */
	char *filepath_auth_root_path;  /* NULL: no files are read */
	char *vault_trusted_addresses;  /* "a,b", "*"; NULL: none */
	char *vault_jwt_file;           /* NULL: a token is requested */
	char *vault_jwt_audience;
	char *vault_credential_dir; /* NULL: no files are read */
	int64_t bound_service_account_token_expiry_ms;
	bool sandbox; /* src/sandbox */

	/* Variables without a flag; borrowed from the environment; NULL: not set, or empty. */
	const char *pod_name;          /* POD_NAME */
	const char *vault_ca_file;     /* VAULT_CACERT */
	const char *vault_skip_verify; /* VAULT_SKIP_VERIFY */
	const char *vault_token;       /* VAULT_TOKEN */
	const char *aws_region;        /* AWS_REGION, else AWS_DEFAULT_REGION */
	const char *aws_secrets_url;   /* AWS_ENDPOINT_URL_SECRETS_MANAGER */

	char *config;      /* the config file; NULL: none */
	bool show_help;    /* --help: nothing else was read */
	bool show_version; /* --version, likewise */
};

/*
 * argv[0] is the first flag. Fills *out, which options_done frees; after an error it is empty.
 * ERR_INVALID names the source, the value and what is allowed: `flag --secure-port: "x" is not a
 * port: 0 to 65535`; `/etc/kscaled.conf:12 secure-port: ...`.
 */
int options_load(int argc, char **argv, struct options *out, struct err *err);
void options_done(struct options *o);

/*
 * Calls fn with the name of each option whose value differs between `old` and `fresh`, except
 * --config.
 */
void options_compare(const struct options *old, const struct options *fresh, void (*fn)(void *arg, const char *name),
	void *arg);

/* The command line of `kscaled run`. */
extern const struct commandline options_line;

#endif
