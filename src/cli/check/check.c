/* SPDX-License-Identifier: Apache-2.0 */

/*
 * `kscaled check FILE...`: validates manifests without a cluster, for CI pipelines
 * (kscaled-check.1). Prints one line per problem: `file:line: kind ns/name: field: problem`; what
 * cannot be read is an error on standard error.
 */

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/buf.h"
#include "base/dnsname.h"
#include "base/file.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/check/checkobjects.h"
#include "cli/commands.h"
#include "cli/documents.h"
#include "net/tls/tlsrules.h"

enum { ALL_WELL = 0, WRONG = 1, UNREADABLE = 2 };

struct check_request {
	struct checkobjects_params params;
	const char *cloud_identity;
	bool strict, require_tls;
};

static const char *const cloud_identities[] = { AUTH_CLOUD_WORDS, NULL };

static const struct option options[] = {
#define AT(member) .offset = offsetof(struct check_request, member)
	{ "namespace", OPTION_LABEL, AT(params.namespace_), "NS", "namespace of objects without one", .letter = 'n',
		.initial = "default" },
	{ "cluster-object-namespace", OPTION_LABEL, AT(params.rules.cluster_namespace), "NS",
		"namespace of the Secrets of ClusterTriggerAuthentications", .initial = "kscaled" },
	{ "require-tls", OPTION_SWITCH, AT(require_tls), NULL,
		"as kscaled's option: Redis, databases, etcd and external scalers need TLS" },
	{ "restrict-secret-access", OPTION_SWITCH, AT(params.rules.restrict_secrets), NULL,
		"likewise: read Secrets only in --cluster-object-namespace" },
	{ "cloud-identity", OPTION_WORD, AT(cloud_identity), "WHO",
		"as kscaled's option, like the next six: who may use kscaled's identity at a cloud: none, cluster, "
		"all. "
		"Without any of them, what the defaults refuse is a warning",
		.words = cloud_identities },
	{ "azure-trusted-hosts", OPTION_TEXT, AT(params.rules.azure_trusted), "HOST[,HOST]",
		"servers besides Microsoft's that may get it" },
	{ "aws-trusted-hosts", OPTION_TEXT, AT(params.rules.aws_trusted), "HOST[,HOST]",
		"servers besides Amazon MSK's that may get it" },
	{ "filepath-auth-root-path", OPTION_TEXT, AT(params.rules.file_root), "DIR",
		"ClusterTriggerAuthentications may name files; they are not read here" },
	{ "vault-trusted-addresses", OPTION_TEXT, AT(params.rules.vault_trusted), "URL[,URL]",
		"Vault servers where TriggerAuthentications may use kscaled's login" },
	{ "vault-credential-dir", OPTION_TEXT, AT(params.rules.vault_files), "DIR",
		"objects may name files of tokens for Vault; they are not read here" },
	{ "allow-local-sources", OPTION_SWITCH, AT(params.rules.local_sources), NULL,
		"allow triggers' servers on kscaled's own host" },
	{ "complete", OPTION_SWITCH, AT(params.complete), NULL,
		"references (workloads, authentications, Secrets) must be in the input" },
	{ "strict", OPTION_SWITCH, AT(strict), NULL, "treat warnings as problems" },
	{ "verbose", OPTION_SWITCH, AT(params.verbose), NULL, "also print a line for each object without problems",
		.letter = 'v' },
	{ .name = NULL },
#undef AT
};

/* ---- Reading ---- */

static const char *shown_name(const char *file)
{
	return strcmp(file, "-") == 0 ? "<stdin>" : file;
}

static int complain(const char *file, const char *what)
{
	fprintf(stderr, "kscaled check: %s: %s\n", shown_name(file), what);
	return UNREADABLE;
}

static int open_file(const char *file)
{
	struct stat st;
	int fd = open(file, O_RDONLY | O_CLOEXEC);

	if (fd < 0) {
		complain(file, strerror(errno));
		return -1;
	}
	if (fstat(fd, &st) == 0 && S_ISDIR(st.st_mode)) {
		complain(file, "is a directory: name the files in it");
		close(fd);
		return -1;
	}
	return fd;
}

static int read_text(struct documents *documents, const char *file, const struct buf *text)
{
	struct err err;
	const char *place;

	if (buf_failed(text)) {
		err_set(&err, ERR_INVALID, "longer than %d MiB", DOCUMENTS_BYTES_MAX >> 20);
		return complain(file, err.msg);
	}
	if (documents_read(documents, shown_name(file), buf_text(text), text->len, &err) == 0)
		return ALL_WELL;
	/* "line 7: ..." becomes "file:7: ...", as in problems. */
	place = text_behind(err.msg, "line ");
	fprintf(stderr, "%s:%s\n", shown_name(file), place ? place : err.msg);
	return UNREADABLE;
}

static int read_file(struct documents *documents, const char *file)
{
	struct buf text = BUF_INIT(DOCUMENTS_BYTES_MAX);
	bool standard = strcmp(file, "-") == 0;
	int fd = standard ? STDIN_FILENO : open_file(file), status;

	if (fd < 0)
		return UNREADABLE;
	if (file_read_fd(fd, &text) < 0)
		status = complain(file, strerror(errno));
	else
		status = read_text(documents, file, &text);
	buf_done_secret(&text);
	if (!standard)
		close(fd);
	return status;
}

/* ---- The command ---- */

static int run(const struct check_request *request, char *const *files, int count)
{
	struct documents *documents = documents_new();
	struct checkobjects_result found;
	int status = ALL_WELL, one;

	for (int i = 0; i < count; i++) {
		size_t before = documents->count;

		one = read_file(documents, files[i]);
		if (one == ALL_WELL && documents->count == before && request->params.verbose)
			printf("%s:1: no objects\n", shown_name(files[i]));
		status = one > status ? one : status;
	}
	found = checkobjects_run(&request->params, documents, stdout);
	documents_free(documents);
	if ((found.problems > 0 || (request->strict && found.warnings > 0)) && status == ALL_WELL)
		status = WRONG;
	if (fflush(stdout) != 0 || ferror(stdout))
		return complain("standard output", strerror(errno));
	return status;
}

static int run_check(void *arguments, char **operands, int count, struct err *err)
{
	struct check_request *request = arguments;
	struct offline_rules *rules = &request->params.rules;
	int status;

	if (count == 0) {
		err_set(err, ERR_INVALID, "no file given; use - for standard input");
		return COMMANDLINE_WRONG;
	}
	rules->given = request->cloud_identity || rules->azure_trusted || rules->aws_trusted || rules->file_root ||
		rules->vault_trusted || rules->vault_files || rules->local_sources;
	rules->cloud = auth_cloud_of(request->cloud_identity ? request->cloud_identity : AUTH_CLOUD_INITIAL);
	tlsrules_set(&(struct tlsrules_config){ .required = request->require_tls }, NULL);
	status = run(request, operands, count);
	tlsrules_done();
	return status;
}

const struct commandline cli_check_line = {
	.name = "check",
	.summary = "checks manifests without a cluster",
	.usage = "[OPTION]... FILE...",
	.text = "Check manifests without a cluster: YAML or JSON; - is standard input.\n"
		"    helm template . | kscaled check -",
	.end = "Exit status: 0 no problems; 1 problems; 2 something could not be read, or wrong usage.",
	.tables = { { .options = options } },
	.operands = true,
	.files = true,
	.size = sizeof(struct check_request),
	.run = run_check,
};
