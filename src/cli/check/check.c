/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/check/check.h"

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
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "cli/check/checkobjects.h"
#include "cli/documents.h"
#include "net/tls/tlsrules.h"

enum { ALL_WELL = 0, WRONG = 1, UNREADABLE = 2 };

static const char help_text[] =
	"Usage: kscaled check [OPTION]... FILE...\n"
	"Check manifests without a cluster: YAML or JSON; - is standard input.\n"
	"    helm template . | kscaled check -\n"
	"\n"
	"  -n, --namespace NS     namespace of objects without one (default: default)\n"
	"  --cluster-object-namespace NS\n"
	"                         namespace of the Secrets of ClusterTriggerAuthentications (default: kscaled)\n"
	"  --require-tls          as kscaled's option: Redis, databases, etcd and external scalers need TLS\n"
	"  --restrict-secret-access\n"
	"                         likewise: read Secrets only in --cluster-object-namespace\n"
	"  --cloud-identity WHO   as kscaled's option, like the next six: who may use kscaled's identity at a cloud:\n"
	"                         none, cluster, all. Without any of them, what the defaults refuse is a warning\n"
	"  --azure-trusted-hosts HOST[,HOST]\n"
	"                         servers besides Microsoft's that may get it\n"
	"  --aws-trusted-hosts HOST[,HOST]\n"
	"                         servers besides Amazon MSK's that may get it\n"
	"  --filepath-auth-root-path DIR\n"
	"                         ClusterTriggerAuthentications may name files; they are not read here\n"
	"  --vault-trusted-addresses URL[,URL]\n"
	"                         Vault servers where TriggerAuthentications may use kscaled's login\n"
	"  --vault-credential-dir DIR\n"
	"                         objects may name files of tokens for Vault; they are not read here\n"
	"  --allow-local-sources  allow triggers' servers on kscaled's own host\n"
	"  --complete             references (workloads, authentications, Secrets) must be in the input\n"
	"  --strict               treat warnings as problems\n"
	"  -v, --verbose          also print a line for each object without problems\n"
	"  -h, --help             print this text\n"
	"\n"
	"Exit status: 0 no problems; 1 problems; 2 something could not be read, or wrong usage.\n";

static const struct option options[] = {
	{ "namespace", required_argument, NULL, 'n' },
	{ "cluster-object-namespace", required_argument, NULL, 'c' },
	{ "require-tls", no_argument, NULL, 't' },
	{ "restrict-secret-access", no_argument, NULL, 'r' },
	{ "cloud-identity", required_argument, NULL, 'w' },
	{ "azure-trusted-hosts", required_argument, NULL, 'z' },
	{ "aws-trusted-hosts", required_argument, NULL, 'a' },
	{ "filepath-auth-root-path", required_argument, NULL, 'f' },
	{ "vault-trusted-addresses", required_argument, NULL, 'V' },
	{ "vault-credential-dir", required_argument, NULL, 'd' },
	{ "allow-local-sources", no_argument, NULL, 'l' },
	{ "complete", no_argument, NULL, 'C' },
	{ "strict", no_argument, NULL, 's' },
	{ "verbose", no_argument, NULL, 'v' },
	{ "help", no_argument, NULL, 'h' },
	{ NULL, 0, NULL, 0 },
};

static const char *const cloud_identities[] = { AUTH_CLOUD_WORDS, NULL };

static const char *const *values_of(const char *option)
{
	return strcmp(option, "cloud-identity") == 0 ? cloud_identities : NULL;
}

const struct commandline cli_check_line = { .help = help_text, .options = options, .files = true, .values = values_of };

struct check_request {
	struct checkobjects_params params;
	bool strict, require_tls;
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

static bool check_namespace(const char *option, const char *name)
{
	if (dnsname_is_label(name, strlen(name)))
		return true;
	fprintf(stderr, "kscaled check: --%s: \"%.80s\" is not a valid name of a namespace\n", option, name);
	return false;
}

static bool check_cloud_identity(const char *word)
{
	if (text_is_one_of(word, cloud_identities))
		return true;
	fprintf(stderr, "kscaled check: --cloud-identity: \"%.80s\" is not none, cluster or all\n", word);
	return false;
}

int cli_check(int argc, char **argv)
{
	static char name[] = "kscaled check"; /* getopt's messages begin with it */
	struct check_request request = {
		.params = { .namespace_ = "default", .rules = { .cluster_namespace = "kscaled" } },
	};
	struct offline_rules *rules = &request.params.rules;
	const char *cloud = AUTH_CLOUD_INITIAL;
	int c, status;

	argv[0] = name;
	optind = 0; /* glibc: reset, main may have used getopt */
	while ((c = getopt_long(argc, argv, "n:vh", options, NULL)) != -1) {
		rules->given = rules->given || strchr("wzafVdl", c);
		switch (c) {
		case 'n': request.params.namespace_ = optarg; break;
		case 'c': rules->cluster_namespace = optarg; break;
		case 't': request.require_tls = true; break;
		case 'r': rules->restrict_secrets = true; break;
		case 'w': cloud = optarg; break;
		case 'z': rules->azure_trusted = optarg; break;
		case 'a': rules->aws_trusted = optarg; break;
		case 'f': rules->file_root = optarg; break;
		case 'V': rules->vault_trusted = optarg; break;
		case 'd': rules->vault_files = optarg; break;
		case 'l': rules->local_sources = true; break;
		case 'C': request.params.complete = true; break;
		case 's': request.strict = true; break;
		case 'v': request.params.verbose = true; break;
		case 'h': fputs(help_text, stdout); return ALL_WELL;
		default: fputs("Try \"kscaled check --help\".\n", stderr); return UNREADABLE;
		}
	}
	if (!check_namespace("namespace", request.params.namespace_) ||
		!check_namespace("cluster-object-namespace", rules->cluster_namespace) || !check_cloud_identity(cloud))
		return UNREADABLE;
	rules->cloud = auth_cloud_of(cloud);
	if (optind == argc) {
		fputs("kscaled check: no file given; use - for standard input\nTry \"kscaled check --help\".\n",
			stderr);
		return UNREADABLE;
	}
	json_wipe_on_free();
	tlsrules_set(&(struct tlsrules_config){ .required = request.require_tls }, NULL);
	status = run(&request, argv + optind, argc - optind);
	tlsrules_done();
	return status;
}
