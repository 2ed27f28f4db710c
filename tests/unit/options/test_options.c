/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "options/options.h"

#define ARGS_MAX 12

/* A configuration file, removed after the test. */
static char config_path[] = "options-XXXXXX";
static char config_flag[64];

static int start(void **state)
{
	int fd = mkstemp(config_path);

	(void)state;
	assert_true(fd >= 0);
	close(fd);
	snprintf(config_flag, sizeof(config_flag), "--config=%s", config_path);
	return 0;
}

static int stop(void **state)
{
	(void)state;
	return unlink(config_path);
}

/* Clears the environment except for cmocka's variables. */
static int bare(void **state)
{
	static const char report[] = "CMOCKA_MESSAGE_OUTPUT";
	MEM_AUTO char *form = mem_dup(getenv(report));

	(void)state;
	if (clearenv() != 0)
		return -1;
	return form != NULL ? setenv(report, form, 1) : 0;
}

static void put_config(const char *text, size_t len)
{
	FILE *file = fopen(config_path, "wb");

	assert_non_null(file);
	assert_int_equal(fwrite(text, 1, len, file), len);
	assert_int_equal(fclose(file), 0);
}

/* args: NULL-terminated */
static int load(const char *const *args, struct options *o, struct err *err)
{
	char *argv[ARGS_MAX + 1] = { NULL };
	int argc = 0;

	for (; args[argc] != NULL && argc < ARGS_MAX; argc++)
		argv[argc] = mem_dup(args[argc]);
	memset(o, 0x55, sizeof(*o));
	int result = options_load(argc, argv, o, err);
	for (int i = 0; i < argc; i++)
		free(argv[i]); /* kept texts must be copies */
	return result;
}

#define ARGS(...) ((const char *const[]){ __VA_ARGS__, NULL })
#define NO_ARGS   ((const char *const[]){ NULL })

static void loaded(const char *const *args, struct options *o)
{
	struct err err;

	if (load(args, o, &err) < 0)
		fail_msg("%s", err.msg);
}

static void same_text(const char *a, const char *b)
{
	if (a == NULL || b == NULL)
		assert_true(a == b);
	else
		assert_string_equal(a, b);
}

static void same_options(const struct options *a, const struct options *b)
{
	same_text(a->kubeconfig, b->kubeconfig);
	same_text(a->namespace_, b->namespace_);
	same_text(a->watch_namespaces, b->watch_namespaces);
	same_text(a->bind_address, b->bind_address);
	assert_int_equal(a->secure_port, b->secure_port);
	same_text(a->status_address, b->status_address);
	same_text(a->insight_socket, b->insight_socket);
	same_text(a->insight_socket_group, b->insight_socket_group);
	same_text(a->service_name, b->service_name);
	same_text(a->tls_cert_file, b->tls_cert_file);
	same_text(a->tls_private_key_file, b->tls_private_key_file);
	assert_int_equal(a->leader_elect, b->leader_elect);
	same_text(a->lease_name, b->lease_name);
	assert_true(a->lease_duration_ms == b->lease_duration_ms);
	assert_true(a->renew_deadline_ms == b->renew_deadline_ms);
	assert_true(a->retry_period_ms == b->retry_period_ms);
	assert_true(a->metrics_max_age_ms == b->metrics_max_age_ms);
	assert_true(a->metrics_deadline_ms == b->metrics_deadline_ms);
	assert_true(a->http_timeout_ms == b->http_timeout_ms);
	assert_true(a->metered_interval_ms == b->metered_interval_ms);
	same_text(a->http_min_tls_version, b->http_min_tls_version);
	same_text(a->http_tls_cipher_list, b->http_tls_cipher_list);
	same_text(a->ca_dir, b->ca_dir);
	assert_int_equal(a->require_tls, b->require_tls);
	assert_int_equal(a->log_level, b->log_level);
	assert_int_equal(a->log_format, b->log_format);
	same_text(a->identity, b->identity);
	same_text(a->state_dir, b->state_dir);
	same_text(a->keda_namespace, b->keda_namespace);
	assert_int_equal(a->take_over, b->take_over);
	assert_int_equal(a->webhook, b->webhook);
	assert_int_equal(a->restrict_secret_access, b->restrict_secret_access);
	assert_int_equal(a->allow_local_sources, b->allow_local_sources);
	assert_int_equal(a->sandbox, b->sandbox);
	assert_int_equal(a->max_source_connections, b->max_source_connections);
	same_text(a->cloud_identity, b->cloud_identity);
	same_text(a->azure_trusted_hosts, b->azure_trusted_hosts);
	same_text(a->aws_trusted_hosts, b->aws_trusted_hosts);
	assert_int_equal(a->cloud_metadata, b->cloud_metadata);
	same_text(a->cluster_object_namespace, b->cluster_object_namespace);
	same_text(a->filepath_auth_root_path, b->filepath_auth_root_path);
	same_text(a->vault_trusted_addresses, b->vault_trusted_addresses);
	same_text(a->vault_jwt_file, b->vault_jwt_file);
	same_text(a->vault_jwt_audience, b->vault_jwt_audience);
	same_text(a->vault_credential_dir, b->vault_credential_dir);
	assert_true(a->bound_service_account_token_expiry_ms == b->bound_service_account_token_expiry_ms);
}

static void defaults(void **state)
{
	const struct options expected = {
		.secure_port = 8443,
		.status_address = (char[]){ "127.0.0.1:8080" },
		.service_name = (char[]){ "kscaled" },
		.leader_elect = true,
		.lease_name = (char[]){ "operator.keda.sh" },
		.lease_duration_ms = 15000,
		.renew_deadline_ms = 10000,
		.retry_period_ms = 2000,
		.metrics_max_age_ms = 1000,
		.metrics_deadline_ms = 3000,
		.metered_interval_ms = 15000,
		.http_timeout_ms = 3000,
		.http_min_tls_version = (char[]){ "TLS12" },
		.ca_dir = (char[]){ "/custom/ca" },
		.log_level = LOG_LEVEL_INFO,
		.log_format = LOG_FORMAT_TEXT,
		.state_dir = (char[]){ "/var/lib/kscaled" },
		.vault_jwt_audience = (char[]){ "vault" },
		.cloud_identity = (char[]){ "cluster" },
		.keda_namespace = (char[]){ "keda" },
		.take_over = false,
		.webhook = true,
		.bound_service_account_token_expiry_ms = 3600000,
		.sandbox = true,
		.max_source_connections = 2048,
	};
	struct options o;

	(void)state;
	loaded(NO_ARGS, &o);
	same_options(&o, &expected);
	assert_null(o.config);
	assert_false(o.show_help || o.show_version);
	options_done(&o);
	assert_null(o.service_name);
	options_done(&o);
}

static void flags(void **state)
{
	struct options o;

	(void)state;
	loaded(ARGS("--secure-port=9443", "--namespace", "ops", "--take-over", "--leader-elect=false",
		       "--watch-namespace=a, b,,\"c\"", "--bind-address=::1"),
		&o);
	assert_null(o.insight_socket);
	assert_int_equal(o.secure_port, 9443);
	assert_string_equal(o.namespace_, "ops");
	assert_true(o.take_over);
	assert_false(o.leader_elect);
	assert_string_equal(o.watch_namespaces, "a,b,c");
	assert_string_equal(o.bind_address, "::1");
	options_done(&o);
	loaded(ARGS("--secure-port=1", "--secure-port=0", "--identity=--odd", "--metrics-max-age", "0", "--take-over=F",
		       "--log-level=debug", "--log-format=json"),
		&o);
	assert_int_equal(o.secure_port, 0);
	assert_string_equal(o.identity, "--odd");
	assert_true(o.metrics_max_age_ms == 0);
	assert_false(o.take_over);
	assert_int_equal(o.log_level, LOG_LEVEL_DEBUG);
	assert_int_equal(o.log_format, LOG_FORMAT_JSON);
	options_done(&o);
	loaded(ARGS("--insight-socket=/run/k/i.sock", "--insight-socket-group", "adm"), &o);
	assert_string_equal(o.insight_socket, "/run/k/i.sock");
	assert_string_equal(o.insight_socket_group, "adm");
	options_done(&o);
	loaded(ARGS("--leader-elect", "false", "--take-over", "--service-name", "x"), &o);
	assert_false(o.leader_elect);
	assert_true(o.take_over);
	assert_string_equal(o.service_name, "x");
	options_done(&o);
	loaded(ARGS("--watch-namespace=\"\"", "--namespace=", "--kubeconfig=", "--keda-namespace="), &o);
	assert_null(o.keda_namespace);
	assert_null(o.watch_namespaces);
	assert_null(o.namespace_);
	assert_null(o.kubeconfig);
	options_done(&o);
}

/* KEDA's environment variables, for users who keep its manifests. */
static void authentication(void **state)
{
	struct options o;

	(void)state;
	loaded(ARGS("--restrict-secret-access", "--cluster-object-namespace=ops", "--filepath-auth-root-path=/etc/auth",
		       "--vault-trusted-addresses=https://vault:8200", "--bound-service-account-token-expiry=6h",
		       "--allow-local-sources", "--webhook=false", "--sandbox=false", "--cloud-identity=all",
		       "--azure-trusted-hosts=core.local", "--aws-trusted-hosts=kafka.shop", "--cloud-metadata"),
		&o);
	assert_true(o.restrict_secret_access);
	assert_true(o.allow_local_sources);
	assert_true(o.cloud_metadata);
	assert_string_equal(o.cloud_identity, "all");
	assert_string_equal(o.azure_trusted_hosts, "core.local");
	assert_string_equal(o.aws_trusted_hosts, "kafka.shop");
	assert_false(o.webhook);
	assert_false(o.sandbox);
	assert_string_equal(o.cluster_object_namespace, "ops");
	assert_string_equal(o.filepath_auth_root_path, "/etc/auth");
	assert_string_equal(o.vault_trusted_addresses, "https://vault:8200");
	assert_true(o.bound_service_account_token_expiry_ms == 6 * 3600000);
	options_done(&o);
	setenv("KEDA_RESTRICT_SECRET_ACCESS", "TRUE", 1);
	setenv("KEDA_CLUSTER_OBJECT_NAMESPACE", "shared", 1);
	setenv("KEDA_BOUND_SERVICE_ACCOUNT_TOKEN_EXPIRY", "2h", 1);
	loaded(NO_ARGS, &o);
	assert_true(o.restrict_secret_access);
	assert_string_equal(o.cluster_object_namespace, "shared");
	assert_true(o.bound_service_account_token_expiry_ms == 2 * 3600000);
	options_done(&o);
	setenv("KSCALED_RESTRICT_SECRET_ACCESS", "false", 1);
	loaded(NO_ARGS, &o);
	assert_false(o.restrict_secret_access);
	options_done(&o);
}

static void help_and_version_come_first(void **state)
{
	struct options o;

	(void)state;
	loaded(ARGS("--nonsense", "--help"), &o);
	assert_true(o.show_help);
	options_done(&o);
	loaded(ARGS("-h"), &o);
	assert_true(o.show_help);
	loaded(ARGS("--secure-port=x", "--version"), &o);
	assert_true(o.show_version && !o.show_help);
	options_done(&o);
}

static void flag_before_environment_before_file_before_default(void **state)
{
	static const char config[] = "service-name = file\nlease-name = file\nkeda-namespace = file\n";
	struct options o;

	(void)state;
	put_config(config, sizeof(config) - 1);
	setenv("KSCALED_SERVICE_NAME", "env", 1);
	setenv("KSCALED_LEASE_NAME", "env", 1);
	loaded(ARGS(config_flag, "--service-name=flag"), &o);
	assert_string_equal(o.service_name, "flag");
	assert_string_equal(o.lease_name, "env");
	assert_string_equal(o.keda_namespace, "file");
	assert_string_equal(o.state_dir, "/var/lib/kscaled");
	assert_string_equal(o.config, config_path);
	options_done(&o);
	setenv("KSCALED_CONFIG", config_path, 1);
	loaded(NO_ARGS, &o);
	assert_string_equal(o.keda_namespace, "file");
	options_done(&o);
}

static void environment_names(void **state)
{
	struct options o;

	(void)state;
	setenv("KUBECONFIG", "/k", 1);
	setenv("POD_NAMESPACE", "pod", 1);
	setenv("WATCH_NAMESPACE", "w1,w2", 1);
	setenv("KSCALED_STATUS_ADDRESS", "", 1);       /* counts as not set */
	setenv("KSCALED_SERVICE_HOST", "10.0.0.1", 1); /* Kubernetes sets it in every Pod */
	setenv("KSCALED_PORT_443_TCP", "tcp://10.0.0.1:443", 1);
	loaded(NO_ARGS, &o);
	assert_string_equal(o.kubeconfig, "/k");
	assert_string_equal(o.namespace_, "pod");
	assert_string_equal(o.watch_namespaces, "w1,w2");
	assert_string_equal(o.status_address, "127.0.0.1:8080");
	options_done(&o);
	setenv("KSCALED_KUBECONFIG", "/own", 1);
	setenv("KSCALED_NAMESPACE", "own", 1);
	setenv("KSCALED_WATCH_NAMESPACE", "own", 1);
	loaded(NO_ARGS, &o);
	assert_string_equal(o.kubeconfig, "/own");
	assert_string_equal(o.namespace_, "own");
	assert_string_equal(o.watch_namespaces, "own");
	options_done(&o);
}

static void config_files(void **state)
{
	static const char config[] = "# a comment\n\n  secure-port=1234\r\n\tservice-name =  spaced \t\n#lease-name = "
				     "no\nkubeconfig = /path with = and # in it\nnamespace =\nstate-dir = /no/line/end";
	struct options o;

	(void)state;
	put_config(config, sizeof(config) - 1);
	loaded(ARGS("--config", config_path), &o);
	assert_int_equal(o.secure_port, 1234);
	assert_string_equal(o.service_name, "spaced");
	assert_string_equal(o.lease_name, "operator.keda.sh");
	assert_string_equal(o.kubeconfig, "/path with = and # in it");
	assert_null(o.namespace_);
	assert_string_equal(o.state_dir, "/no/line/end");
	options_done(&o);
}

/* A file, and the error after "<path>:". */
static void wrong_config_files(void **state)
{
	static const struct {
		const char *text, *says;
	} rows[] = {
		{ "secure-port = x\n", ":1: secure-port: \"x\" is not a port: 0 to 65535" },
		{ "\n# c\nsecure-prot = 1\n", ":3: unknown option secure-prot; perhaps secure-port" },
		{ "zzz = 1\n", ":1: unknown option zzz" },
		{ "--secure-port = 1\n", ":1: unknown option --secure-port; perhaps secure-port" },
		{ "secure-port\n", ":1: \"secure-port\" is not \"name = value\"" },
		{ "secure-port = 1\n\nsecure-port = 1\n", ":3: secure-port is already set in line 1" },
		{ "config = x\n", ":1: config is not allowed in a config file" },
		{ "help = true\n", ":1: unknown option help" },
		{ "= x\n", ":1: unknown option " },
		{ "lease-duration = 0s\n", ":1: lease-duration: \"0s\" is out of range: 1s to 1h" },
		{ "state-dir =\n", "state-dir must not be empty" },
		{ "vault-jwt-audience =\n",
			"vault-jwt-audience must not be empty: the token would be valid at the API server" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct options o;
		struct err err;
		char expected[256];
		put_config(rows[i].text, strlen(rows[i].text));
		snprintf(expected, sizeof(expected), "%s%s", rows[i].says[0] == ':' ? config_path : "", rows[i].says);
		assert_int_equal(load(ARGS(config_flag), &o, &err), -1);
		assert_string_equal(err.msg, expected);
		assert_int_equal(err.kind, ERR_INVALID);
		assert_null(o.service_name);
	}
}

static void unreadable_config_files(void **state)
{
	struct options o;
	struct err err;

	(void)state;
	assert_int_equal(load(ARGS("--config=/nonexistent/x"), &o, &err), -1);
	assert_string_equal(err.msg, "config file /nonexistent/x: No such file or directory");
	assert_int_equal(err.kind, ERR_MISSING);
	assert_int_equal(load(ARGS("--config=/"), &o, &err), -1);
	assert_non_null(strstr(err.msg, "config file /: "));
	put_config("a\0b", 3);
	assert_int_equal(load(ARGS(config_flag), &o, &err), -1);
	assert_non_null(strstr(err.msg, "is not a text file"));
	char *big = mem_alloc((size_t)2 << 20);
	memset(big, '#', (size_t)2 << 20);
	put_config(big, (size_t)2 << 20);
	free(big);
	assert_int_equal(load(ARGS(config_flag), &o, &err), -1);
	assert_non_null(strstr(err.msg, "longer than 1048576 bytes"));
}

static void wrong_flags(void **state)
{
	static const struct {
		const char *flag, *says;
	} rows[] = {
		{ "run", "\"run\" is not a flag: flags begin with --" },
		{ "-x", "\"-x\" is not a flag: flags begin with --" },
		{ "--", "\"--\" is not a flag: flags begin with --" },
		{ "", "\"\" is not a flag: flags begin with --" },
		{ "--=x", "unknown option --" },
		{ "--secure-prot=1", "unknown option --secure-prot; perhaps --secure-port" },
		{ "--kube-config=1", "unknown option --kube-config; perhaps --kubeconfig" },
		{ "--kubecon=1", "unknown option --kubecon; perhaps --kubeconfig" }, /* no abbreviations */
		{ "--watch-namespaces=1", "unknown option --watch-namespaces; perhaps --watch-namespace" },
		{ "--quite-another-thing", "unknown option --quite-another-thing" },
		{ "--secure-port", "flag --secure-port needs a value: --secure-port PORT" },
		{ "--secure-port=", "flag --secure-port: \"\" is not a port: 0 to 65535" },
		{ "--secure-port=65536", "flag --secure-port: \"65536\" is not a port: 0 to 65535" },
		{ "--secure-port=-1", "flag --secure-port: \"-1\" is not a port: 0 to 65535" },
		{ "--secure-port=+1", "flag --secure-port: \"+1\" is not a port: 0 to 65535" },
		{ "--secure-port=99999999999999999999",
			"flag --secure-port: \"99999999999999999999\" is not a port: 0 to 65535" },
		{ "--leader-elect=yes", "flag --leader-elect: \"yes\" is neither true nor false" },
		{ "--leader-elect=maybe", "flag --leader-elect: \"maybe\" is neither true nor false" },
		{ "--leader-elect=", "flag --leader-elect: \"\" is neither true nor false" },
		{ "--lease-duration=15", "flag --lease-duration: \"15\" is not a duration like 15s, 1m30s or 300ms" },
		{ "--lease-duration=-15s", "flag --lease-duration: \"-15s\" is negative" },
		{ "--lease-duration=2h", "flag --lease-duration: \"2h\" is out of range: 1s to 1h" },
		{ "--http-timeout=0", "flag --http-timeout: \"0ms\" is out of range: 1ms to 1h" },
		{ "--metered-interval=61m", "flag --metered-interval: \"61m\" is out of range: 0s to 1h" },
		{ "--max-source-connections=15",
			"flag --max-source-connections: \"15\" is not a number from 16 to 65536" },
		{ "--max-source-connections=1e3",
			"flag --max-source-connections: \"1e3\" is not a number from 16 to 65536" },
		{ "--metrics-deadline=1ms", "flag --metrics-deadline: \"1ms\" is out of range: 10ms to 1m" },
		{ "--bound-service-account-token-expiry=10m",
			"flag --bound-service-account-token-expiry: \"10m\" is out of range: 1h to 6h" },
		{ "--cluster-object-namespace=Ops",
			"flag --cluster-object-namespace: \"Ops\" is not a Kubernetes name: lower-case letters, digits "
			"and -" },
		{ "--log-level=loud", "flag --log-level: \"loud\" is not a log level: debug, info, warn or error" },
		{ "--log-format=xml", "flag --log-format: \"xml\" is not a log format: text or json" },
		{ "--status-address=8080",
			"flag --status-address: \"8080\" has no port: HOST:PORT, or :PORT for all addresses" },
		{ "--status-address=::1:8080",
			"flag --status-address: \"::1:8080\": an IPv6 address must be in brackets, like [::1]:8080" },
		{ "--status-address=localhost:http",
			"flag --status-address: \"localhost:http\": \"http\" is not a port: 0 to 65535" },
		{ "--bind-address=localhost", "flag --bind-address: \"localhost\" is not an IP address" },
		{ "--bind-address=[::]", "flag --bind-address: \"[::]\" is not an IP address" },
		{ "--namespace=Ops",
			"flag --namespace: \"Ops\" is not a Kubernetes name: lower-case letters, digits and -" },
		{ "--namespace=-ops",
			"flag --namespace: \"-ops\" is not a Kubernetes name: lower-case letters, digits and -" },
		{ "--service-name=",
			"flag --service-name: \"\" is not a Kubernetes name: lower-case letters, digits and -" },
		{ "--service-name=a.b",
			"flag --service-name: \"a.b\" is not a Kubernetes name: lower-case letters, digits and -" },
		{ "--lease-name=a..b",
			"flag --lease-name: \"a..b\" is not a Kubernetes name: lower-case letters, digits and - and "
			"." },
		{ "--watch-namespace=a,B",
			"flag --watch-namespace: \"B\" is not a namespace: lower-case letters, digits and -" },
		{ "--watch-namespace=a b", "flag --watch-namespace: \"a b\": separate namespaces by commas" },
		{ "--lease-duration=10s", "lease-duration must be longer than renew-deadline" },
		{ "--renew-deadline=2s", "renew-deadline must be longer than retry-period" },
		{ "--lease-duration=15.5s", "lease-duration must be whole seconds" },
		{ "--tls-cert-file=/c",
			"tls-private-key-file is missing: tls-cert-file and tls-private-key-file belong together" },
		{ "--insight-socket-group=ops", "insight-socket is missing: insight-socket-group needs it" },
		{ "--tls-private-key-file=/k",
			"tls-cert-file is missing: tls-cert-file and tls-private-key-file belong together" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct options o;
		struct err err;
		if (load(ARGS(rows[i].flag), &o, &err) == 0)
			fail_msg("%s was taken", rows[i].flag);
		assert_string_equal(err.msg, rows[i].says);
		assert_int_equal(err.kind, ERR_INVALID);
	}
}

static void right_values(void **state)
{
	static const char *const rows[] = {
		"--status-address=:8080",
		"--status-address=[::1]:0",
		"--status-address=localhost:65535",
		"--status-address=0.0.0.0:8080",
		"--bind-address=0.0.0.0",
		"--bind-address=::",
		"--bind-address=",
		"--lease-name=x",
		"--lease-name=operator.keda.sh",
		"--namespace=a-1",
		"--leader-elect",
		"--leader-elect=T",
		"--leader-elect=0",
		"--lease-duration=60s",
		"--renew-deadline=14999ms",
		"--tls-cert-file=",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		struct options o;
		loaded(ARGS(rows[i]), &o);
		options_done(&o);
	}
}

static void wrong_environment(void **state)
{
	struct options o;
	struct err err;

	(void)state;
	setenv("KSCALED_SECURE_PORT", "tcp://10.0.0.1:443", 1);
	assert_int_equal(load(NO_ARGS, &o, &err), -1);
	assert_string_equal(err.msg,
		"environment KSCALED_SECURE_PORT: \"tcp://10.0.0.1:443\" is not a port: 0 to 65535");
	unsetenv("KSCALED_SECURE_PORT");
	setenv("POD_NAMESPACE", "Not A Name", 1);
	assert_int_equal(load(NO_ARGS, &o, &err), -1);
	assert_non_null(strstr(err.msg, "environment POD_NAMESPACE: \"Not A Name\""));
}

static char *file_text(const char *name)
{
	const char *top = getenv("srcdir");
	char path[1024];
	char piece[4096];
	struct buf text = BUF_INIT((size_t)1 << 20);

	snprintf(path, sizeof(path), "%s/%s", top != NULL ? top : ".", name);
	FILE *file = fopen(path, "r");
	if (file == NULL)
		fail_msg("%s", path);
	for (size_t got; (got = fread(piece, 1, sizeof(piece), file)) > 0;)
		buf_append(&text, piece, got);
	fclose(file);
	return buf_take(&text);
}

static void stands_in_sample(const char *name, const char *text)
{
	MEM_AUTO char *line = mem_printf("\n#%s =", name);

	if (strstr(text, line) == NULL)
		fail_msg("\"%s\" is missing in etc/kscaled.conf", line + 1);
}

/*
 * A commented line "#name = value" of the sample is the default (except for two that depend on
 * where kscaled runs): loading the uncommented file equals loading none. One option is set: on a
 * host, sources run beside kscaled.
 */
static void the_sample_has_every_option_with_its_default(void **state)
{
	MEM_AUTO char *sample = file_text("etc/kscaled.conf");
	struct buf config = BUF_INIT((size_t)1 << 20);
	struct options o, expected;
	struct option option;
	size_t i = 0;

	(void)state;
	for (; commandline_option(&options_line, i, &option) && option.kind != OPTION_END; i++)
		if (strcmp(option.name, "config") != 0)
			stands_in_sample(option.name, sample);
	assert_int_equal(i, 50);
	assert_non_null(strstr(sample, "\n#allow-local-sources = false\nallow-local-sources = true\n"));
	for (char *rest = sample, *line; (line = strsep(&rest, "\n")) != NULL;) {
		bool depends = strncmp(line, "#kubeconfig ", 12) == 0 || strncmp(line, "#namespace ", 11) == 0;
		if (line[0] == '#' && line[1] >= 'a' && line[1] <= 'z' && !depends)
			buf_printf(&config, "%s\n", line + 1);
	}
	put_config(config.data, config.len);
	bare(NULL);
	loaded(ARGS(config_flag), &o);
	loaded(NO_ARGS, &expected);
	same_options(&o, &expected);
	options_done(&o);
	options_done(&expected);
	buf_done(&config);
}

/* Variables of other programs, which no flag sets. */
static void variables_without_a_flag(void **state)
{
	struct options o;

	(void)state;
	loaded(NO_ARGS, &o);
	assert_null(o.pod_name);
	assert_null(o.vault_token);
	assert_null(o.aws_region);
	options_done(&o);
	setenv("POD_NAME", "pod-1", 1);
	setenv("VAULT_CACERT", "", 1);
	setenv("VAULT_SKIP_VERIFY", "true", 1);
	setenv("VAULT_TOKEN", "t", 1);
	setenv("AWS_DEFAULT_REGION", "eu-west-1", 1);
	setenv("AWS_ENDPOINT_URL_SECRETS_MANAGER", "http://aws", 1);
	loaded(NO_ARGS, &o);
	assert_string_equal(o.pod_name, "pod-1");
	assert_null(o.vault_ca_file);
	assert_string_equal(o.vault_skip_verify, "true");
	assert_string_equal(o.vault_token, "t");
	assert_string_equal(o.aws_region, "eu-west-1");
	assert_string_equal(o.aws_secrets_url, "http://aws");
	options_done(&o);
	setenv("AWS_REGION", "eu-north-1", 1);
	loaded(NO_ARGS, &o);
	assert_string_equal(o.aws_region, "eu-north-1");
	options_done(&o);
}

static void on_difference(void *arg, const char *name)
{
	buf_printf(arg, "%s ", name);
}

static void what_a_reload_finds_changed(void **state)
{
	struct buf names = BUF_INIT(SIZE_MAX);
	struct options before, after;

	(void)state;
	loaded(ARGS("--namespace=a", "--lease-name=one", "--secure-port=1"), &before);
	loaded(ARGS("--lease-name=two", "--secure-port=2", "--log-level=warn", "--webhook=false", "--retry-period=1s",
		       "--insight-socket=/x"),
		&after);
	options_compare(&before, &after, on_difference, &names);
	assert_string_equal(buf_text(&names),
		"namespace secure-port insight-socket lease-name retry-period log-level webhook ");
	buf_done(&names);
	options_compare(&before, &before, on_difference, NULL);
	options_done(&before);
	options_done(&after);
}

int main(void)
{
	/* The first two need srcdir, which is cleared afterwards. */
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_sample_has_every_option_with_its_default),
		cmocka_unit_test_setup(defaults, bare),
		cmocka_unit_test_setup(flags, bare),
		cmocka_unit_test_setup(authentication, bare),
		cmocka_unit_test_setup(help_and_version_come_first, bare),
		cmocka_unit_test_setup(flag_before_environment_before_file_before_default, bare),
		cmocka_unit_test_setup(environment_names, bare),
		cmocka_unit_test_setup(variables_without_a_flag, bare),
		cmocka_unit_test_setup(what_a_reload_finds_changed, bare),
		cmocka_unit_test_setup(config_files, bare),
		cmocka_unit_test_setup(wrong_config_files, bare),
		cmocka_unit_test_setup(unreadable_config_files, bare),
		cmocka_unit_test_setup(wrong_flags, bare),
		cmocka_unit_test_setup(right_values, bare),
		cmocka_unit_test_setup(wrong_environment, bare),
	};

	return cmocka_run_group_tests(tests, start, stop);
}
