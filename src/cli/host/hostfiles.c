/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/host/hostfiles.h"

#include <errno.h>
#include <jansson.h>
#include <pwd.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/base64.h"
#include "base/file.h"
#include "base/hostport.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"

#define FILE_SIZE_MAX (1 << 20)

static void set_text(json_t *object, const char *key, const char *text)
{
	if (text)
		json_object_set_new(object, key, json_string(text));
}

/* As JSON, which is valid YAML and escapes foreign names. */
char *hostfiles_kubeconfig(const struct hostfiles *f, const struct kube_config *admin, const char *namespace_)
{
	MEM_AUTO char *ca = admin->ca_pem ? base64_encode(admin->ca_pem, strlen(admin->ca_pem)) : NULL;
	MEM_AUTO char *token_file = mem_printf("%s/token", f->state_dir), *text = NULL;
	json_t *cluster = json_pack("{s:s}", "server", admin->server), *kubeconfig;

	set_text(cluster, "certificate-authority-data", ca);
	set_text(cluster, "tls-server-name", admin->tls_server_name);
	set_text(cluster, "proxy-url", admin->proxy_url);
	if (admin->insecure)
		json_object_set_new(cluster, "insecure-skip-tls-verify", json_true());
	kubeconfig = json_pack("{s:s, s:s, s:s, s:[{s:s, s:o}], s:[{s:s, s:{s:s}}], s:[{s:s, s:{s:s, s:s, s:s}}]}",
		"apiVersion", "v1", "kind", "Config", "current-context", "kscaled", "clusters", "name", "kscaled",
		"cluster", cluster, "users", "name", "kscaled", "user", "tokenFile", token_file, "contexts", "name",
		"kscaled", "context", "cluster", "kscaled", "user", "kscaled", "namespace", namespace_);
	text = json_dumps(kubeconfig, JSON_INDENT(2));
	json_decref(kubeconfig);
	return mem_printf(HOSTFILES_MARK "\n%s\n", text);
}

bool hostfiles_has_user(void)
{
	return getpwnam(HOSTFILES_USER) != NULL;
}

/* The daemon's user; false: does not exist, or we may not change owners. */
static bool find_owner(uid_t *uid, gid_t *gid)
{
	const struct passwd *user = geteuid() == 0 ? getpwnam(HOSTFILES_USER) : NULL;

	if (!user)
		return false;
	*uid = user->pw_uid;
	*gid = user->pw_gid;
	return true;
}

static int give_to_owner(const char *path, struct err *err)
{
	uid_t uid;
	gid_t gid;

	if (find_owner(&uid, &gid) && lchown(path, uid, gid) < 0)
		return err_set(err, ERR_INVALID, "%s: cannot change the owner to " HOSTFILES_USER ": %s", path,
			strerror(errno));
	return 0;
}

/* Parent directories get the default mode. */
static int make_folder(const char *path, mode_t mode, bool is_owners, struct err *err)
{
	MEM_AUTO char *above = mem_dup(path);
	struct stat st;

	for (char *slash = strchr(above + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		mkdir(above, 0755); /* if this fails, the last mkdir tells why */
		*slash = '/';
	}
	if (mkdir(path, mode) == 0)
		return is_owners ? give_to_owner(path, err) : 0;
	if (errno == EEXIST && stat(path, &st) == 0 && !S_ISDIR(st.st_mode))
		errno = ENOTDIR;
	return errno == EEXIST ? 0 : err_set(err, ERR_INVALID, "%s: %s", path, strerror(errno));
}

static int write_file(const char *folder, const char *name, const char *text, struct err *err)
{
	MEM_AUTO char *path = mem_printf("%s/%s", folder, name);

	if (file_replace(path, text, strlen(text), err) < 0)
		return err_wrap(err, "%s", path);
	return give_to_owner(path, err);
}

int hostfiles_write(const struct hostfiles *f, const char *kubeconfig, const char *token, const char *environment,
	struct err *err)
{
	if (make_folder(f->config_dir, 0755, false, err) || make_folder(f->state_dir, 0700, true, err))
		return -1;
	/* The kubeconfig last: the unit starts only if it exists. */
	return write_file(f->state_dir, "token", token, err) ||
			write_file(f->config_dir, "join.env", environment, err) ||
			write_file(f->config_dir, "kubeconfig", kubeconfig, err)
		? -1
		: 0;
}

char *hostfiles_read(const char *folder, const char *name)
{
	MEM_AUTO char *path = mem_printf("%s/%s", folder, name);
	struct buf text = BUF_INIT(FILE_SIZE_MAX);
	char *copy = file_read(path, FILE_ANY, NULL, &text, NULL) == 0 ? mem_dup(buf_text(&text)) : NULL;

	buf_done_secret(&text);
	return copy;
}

/*
 * The rest of the last line that begins with word, without blanks around it. NULL: none. The caller
 * owns it.
 */
static char *line_behind(const char *folder, const char *name, const char *word)
{
	MEM_AUTO char *text = hostfiles_read(folder, name);
	char *rest = text, *line, *found = NULL;

	while (rest && (line = strsep(&rest, "\n")) != NULL) {
		const char *behind = text_behind(text_trim(line, " \t\r"), word);

		if (!behind)
			continue;
		free(found);
		found = mem_dup(behind);
	}
	return found;
}

char *hostfiles_call(const char *config_dir)
{
	return line_behind(config_dir, "join.env", HOSTFILES_CALL);
}

static unsigned port_behind(const char *folder, const char *name, const char *word)
{
	MEM_AUTO char *text = line_behind(folder, name, word);
	int port = text ? hostport_port(text + strspn(text, " \t=")) : 0;

	return port > 0 ? (unsigned)port : 0;
}

unsigned hostfiles_joined_port(const struct hostfiles *f)
{
	return port_behind(f->config_dir, "join.env", "KSCALED_SECURE_PORT=");
}

unsigned hostfiles_configured_port(const struct hostfiles *f)
{
	return port_behind(f->config_dir, "kscaled.conf", "secure-port");
}

int hostfiles_remove(const struct hostfiles *f, struct err *err)
{
	const struct {
		const char *folder, *name;
	} files[] = { { f->config_dir, "kubeconfig" }, { f->config_dir, "join.env" }, { f->state_dir, "token" },
		{ f->state_dir, "identity" } };
	int rc = 0;

	for (size_t i = 0; i < MEM_COUNT(files); i++) {
		MEM_AUTO char *path = mem_printf("%s/%s", files[i].folder, files[i].name);

		if (unlink(path) < 0 && errno != ENOENT && errno != ENOTDIR)
			rc = err_set(err, ERR_INVALID, "%s: %s", path, strerror(errno));
	}
	return rc;
}
