/* SPDX-License-Identifier: Apache-2.0 */
#include "sandbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <openssl/x509.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/landlock.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/syscallfilter.h"
#include "config.h"
#include "net/identity/googleexternal.h"
#include "net/identity/googlekey.h"

#define SUBJECT "sandbox"

/*
 * What libraries read at any time: configuration of name resolution, time zones, CA certificates
 * (on Debian links from /etc to /usr/share), and modules of OpenSSL, libc and the MariaDB
 * connector, which are loaded on first use. All of /etc, because its files are replaced by renames;
 * only root can read secrets there, and kscaled does not run as root. Each may be missing.
 */
static const char *const system_places[] = { "/etc", "/usr", "/lib", "/lib64", "/usr/local/share/ca-certificates",
	"/proc/self", "/proc/stat", "/proc/sys/crypto", "/proc/sys/vm/overcommit_memory", "/sys/devices/system/cpu",
	"/dev/null", "/dev/urandom", "/dev/random" };
/* On some hosts these link into /run. */
static const char *const system_files[] = { "/etc/resolv.conf", "/etc/hosts", "/etc/localtime" };
/* Environment variables, of libraries and of kscaled, that name files and folders. */
static const char *const environment_places[] = { "TZDIR", "SSL_CERT_DIR", "OPENSSL_MODULES", "LD_LIBRARY_PATH" };
static const char *const environment_files[] = { "SSL_CERT_FILE", "CURL_CA_BUNDLE", "OPENSSL_CONF", "VAULT_CACERT",
	"AWS_WEB_IDENTITY_TOKEN_FILE", "AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE", "AZURE_FEDERATED_TOKEN_FILE",
	"AZURE_CLIENT_CERTIFICATE_PATH", "GOOGLE_APPLICATION_CREDENTIALS" };

/* The token file of workload identity federation, which Google's credential configuration names. */
static void allow_named_in(struct landlock *l, const char *path)
{
	struct buf content = BUF_INIT(GOOGLEKEY_TEXT_MAX);
	char *file = NULL;

	if (path && *path && file_read(path, FILE_REGULAR, NULL, &content, NULL) == 0)
		file = googleexternal_file(buf_text(&content));
	if (file)
		landlock_allow_file(l, file);
	free(file);
	buf_done_secret(&content);
}

/* list may be NULL */
static void allow_list(struct landlock *l, const char *list, const char *separator)
{
	MEM_AUTO char *places = mem_dup(list);
	char *rest = places, *place;

	while ((place = strsep(&rest, separator)) != NULL)
		if (*place)
			landlock_allow(l, place);
}

static void allow_system(struct landlock *l)
{
	for (size_t i = 0; i < MEM_COUNT(system_places); i++)
		landlock_allow(l, system_places[i]);
	for (size_t i = 0; i < MEM_COUNT(system_files); i++)
		landlock_allow_file(l, system_files[i]);
	landlock_allow(l, X509_get_default_cert_dir());
	landlock_allow_file(l, X509_get_default_cert_file());
	for (size_t i = 0; i < MEM_COUNT(environment_places); i++)
		allow_list(l, getenv(environment_places[i]), ":");
	for (size_t i = 0; i < MEM_COUNT(environment_files); i++) {
		const char *path = getenv(environment_files[i]);
		if (path && *path)
			landlock_allow_file(l, path);
	}
	allow_named_in(l, getenv("GOOGLE_APPLICATION_CREDENTIALS"));
}

/* A folder that an option names; its absence is logged. */
static void allow_folder(struct landlock *l, const char *option, const char *path)
{
	if (path && !landlock_allow(l, path))
		log_warn(SUBJECT, "%s: %s: %s; files created there later can be read only after a restart", option,
			path, strerror(errno));
}

static void allow_options(struct landlock *l, const struct options *o)
{
	const char *const files[] = { o->config, o->tls_cert_file, o->tls_private_key_file, o->vault_jwt_file };

	for (size_t i = 0; i < MEM_COUNT(files); i++)
		if (files[i])
			landlock_allow_file(l, files[i]);
	allow_folder(l, "filepath-auth-root-path", o->filepath_auth_root_path);
	allow_folder(l, "vault-credential-dir", o->vault_credential_dir);
	allow_list(l, o->ca_dir, ","); /* net/tls/tlsrules logs missing folders */
}

static void allow_replacing(struct landlock *l, const char *path)
{
	MEM_AUTO char *folder = file_folder(path);

	if (!strchr(path, '/'))
		return;
	if (!landlock_allow_replacing(l, folder))
		log_warn(SUBJECT, "%s: %s; it cannot be replaced", folder, strerror(errno));
}

static int restrict_files(const struct options *o, const struct files *files, const char *replaced, int *version,
	struct err *err)
{
	struct landlock l;

	landlock_begin(&l);
	*version = l.version;
	if (l.version > 0) {
		allow_system(&l);
		allow_options(&l, o);
		for (size_t i = 0; i < files->count; i++)
			landlock_allow_file(&l, files->entries[i].path);
		if (replaced)
			allow_replacing(&l, replaced);
	}
	return landlock_restrict(&l, err);
}

/*
 * Sanitizers and coverage do what is refused here: the leak sanitizer starts a process that traces
 * this one, reports run a symbolizer, and coverage writes files at the end.
 */
#ifdef INSTRUMENTED
#define IS_INSTRUMENTED true
#else
#define IS_INSTRUMENTED false
#endif

void sandbox_enter(const struct options *o, const struct files *files, const char *replaced)
{
	struct err no_files = { 0 }, no_calls = { 0 };
	int version, failed_files, failed_calls;

	if (!o->sandbox || IS_INSTRUMENTED) {
		log_info(SUBJECT, "off: %s",
			o->sandbox ? "this build has sanitizers or coverage in it" : "by option sandbox");
		return;
	}
	/* Files first: the filter refuses the system calls of Landlock. */
	failed_files = restrict_files(o, files, replaced, &version, &no_files);
	failed_calls = syscallfilter_enter(replaced != NULL, &no_calls);
	if (failed_files && failed_calls)
		log_warn(SUBJECT, "none: %s; %s", no_files.msg, no_calls.msg);
	else if (failed_files)
		log_warn(SUBJECT, "system calls by seccomp; all files: %s", no_files.msg);
	else if (failed_calls)
		log_warn(SUBJECT, "files by Landlock, version %d; all system calls: %s", version, no_calls.msg);
	else
		log_info(SUBJECT, "files by Landlock, version %d; system calls by seccomp", version);
}
