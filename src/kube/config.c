/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/config.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/hostport.h"
#include "base/mem.h"
#include "base/text.h"
#include "kube/kubeconfig.h"

#define PEM_SIZE_MAX       (1024 * 1024)
#define TOKEN_SIZE_MAX     (64 * 1024) /* goes into a header; the API server takes 1 MiB of headers at most */
#define NAMESPACE_SIZE_MAX 1024

/* ---- Values in files ---- */

static void trim(char *text)
{
	size_t len = strlen(text), start = 0;

	while (len && isspace((unsigned char)text[len - 1]))
		len--;
	text[len] = '\0';
	while (isspace((unsigned char)text[start]))
		start++;
	memmove(text, text + start, len - start + 1);
}

/* Text without NUL bytes and not empty. */
static int read_text(struct files *files, const char *path, size_t cap, char **out, struct err *err)
{
	char *text;
	size_t len;

	if (files_read(files, path, cap, &text, &len, err) < 0)
		return -1;
	if (strlen(text) != len) {
		mem_wipe(text, len);
		free(text);
		return err_set(err, ERR_INVALID, "%s: has NUL bytes", path);
	}
	trim(text);
	if (!*text) {
		mem_free_secret(text);
		return err_set(err, ERR_INVALID, "%s: is empty", path);
	}
	*out = text;
	return 0;
}

/* Refuses a token that would break out of its header. */
static int check_token(const char *token, const char *where, struct err *err)
{
	for (const char *c = token; *c; c++)
		if ((unsigned char)*c <= ' ' || (unsigned char)*c >= 0x7f)
			return err_set(err, ERR_INVALID, "%s: the token contains invalid characters", where);
	return 0;
}

static int read_token(struct files *files, const char *path, char **out, struct err *err)
{
	if (read_text(files, path, TOKEN_SIZE_MAX, out, err) < 0)
		return err_wrap(err, "reading the token");
	return check_token(*out, path, err);
}

static int read_pem(struct files *files, struct kubeconfig_source *source, const char *what, char **out,
	struct err *err)
{
	if (source->file) {
		if (read_text(files, source->file, PEM_SIZE_MAX, out, err) < 0)
			return err_wrap(err, "reading the %s", what);
	} else if (source->inline_text) {
		*out = source->inline_text;
		source->inline_text = NULL;
	}
	if (*out && !strstr(*out, "-----BEGIN "))
		return err_set(err, ERR_INVALID, "%s%s%s: is not PEM text", what, source->file ? " " : "",
			source->file ? source->file : "");
	return 0;
}

/* ---- A kubeconfig ---- */

/* As in kubectl, some files of a list may be missing, but not all. */
static int add_files(struct kubeconfig *kc, struct kube_config *out, const char *list, struct err *err)
{
	MEM_AUTO char *copy = mem_dup(list);
	char *rest = copy, *path, *text;
	size_t len;
	bool found = false;

	err_set(err, ERR_INVALID, "kubeconfig: no path is given");
	while ((path = strsep(&rest, ":"))) {
		if (!*path)
			continue;
		if (files_read(&out->files, path, KUBECONFIG_SIZE_MAX, &text, &len, err) < 0) {
			err_wrap(err, "kubeconfig");
			if (err->kind != ERR_MISSING)
				return -1;
			continue;
		}
		found = kubeconfig_add(kc, text, len, path, err) == 0;
		mem_wipe(text, len);
		free(text);
		if (!found)
			return -1;
	}
	return found ? 0 : -1;
}

static int take_choice(struct kubeconfig_choice *choice, struct kube_config *out, struct err *err)
{
	out->source = mem_printf("kubeconfig %s, context \"%s\"", choice->origin, choice->context);
	out->insecure = choice->insecure;
	out->server = choice->server;
	out->cluster = choice->cluster;
	out->user = choice->user;
	out->tls_server_name = choice->tls_server_name;
	out->proxy_url = choice->proxy_url;
	out->namespace_ = choice->namespace_;
	choice->server = choice->tls_server_name = choice->proxy_url = choice->namespace_ = NULL;
	choice->cluster = choice->user = NULL;
	if (read_pem(&out->files, &choice->ca, "certificate authority", &out->ca_pem, err) < 0 ||
		read_pem(&out->files, &choice->cert, "client certificate", &out->cert_pem, err) < 0 ||
		read_pem(&out->files, &choice->key, "client key", &out->key_pem, err) < 0)
		return -1;
	if (choice->token.file) {
		out->token_file = choice->token.file;
		choice->token.file = NULL;
		return read_token(&out->files, out->token_file, &out->token, err);
	}
	out->token = choice->token.inline_text;
	choice->token.inline_text = NULL;
	return out->token ? check_token(out->token, out->source, err) : 0;
}

static int load_kubeconfig(const char *path, struct kube_config *out, struct err *err)
{
	struct kubeconfig *kc = kubeconfig_new();
	struct kubeconfig_choice choice = { .context = NULL };
	int rc = -1;

	out->kubeconfig_path = mem_dup(path);
	if (add_files(kc, out, path, err) == 0 && kubeconfig_choose(kc, &choice, err) == 0)
		rc = take_choice(&choice, out, err);
	kubeconfig_choice_done(&choice);
	kubeconfig_free(kc);
	return rc;
}

/* ---- The pod's service account ---- */

bool kube_config_in_pod(void)
{
	const char *host = getenv("KUBERNETES_SERVICE_HOST"), *port = getenv("KUBERNETES_SERVICE_PORT");

	return host && *host && port && *port;
}

static int load_mount(const char *mount, struct kube_config *out, struct err *err)
{
	const char *host = getenv("KUBERNETES_SERVICE_HOST"), *port = getenv("KUBERNETES_SERVICE_PORT");
	MEM_AUTO char *ca_file = mem_printf("%s/ca.crt", mount);
	MEM_AUTO char *namespace_file = mem_printf("%s/namespace", mount), *place = NULL;

	if (!kube_config_in_pod())
		return err_set(err, ERR_INVALID,
			"not in a pod (KUBERNETES_SERVICE_HOST and KUBERNETES_SERVICE_PORT are not set): give "
			"--kubeconfig");
	out->source = mem_dup("in-cluster service account");
	place = hostport_join_text(host, port);
	out->server = mem_printf("https://%s", place);
	out->token_file = mem_printf("%s/token", mount);
	if (strpbrk(out->server, " \t\r\n?#"))
		return err_set(err, ERR_INVALID,
			"KUBERNETES_SERVICE_HOST or KUBERNETES_SERVICE_PORT is not a host or a port");
	if (read_token(&out->files, out->token_file, &out->token, err) < 0)
		return err_wrap(err, "in-cluster service account");
	if (read_text(&out->files, ca_file, PEM_SIZE_MAX, &out->ca_pem, err) < 0)
		return err_wrap(err, "in-cluster service account: reading the certificate authority");
	/* Optional: not every mount has it, and the namespace can be configured. */
	read_text(&out->files, namespace_file, NAMESPACE_SIZE_MAX, &out->namespace_, NULL);
	return 0;
}

/* ---- The interface ---- */

int kube_config_load(const char *path, const char *mount, struct kube_config *out, struct err *err)
{
	struct err failed;

	*out = (struct kube_config){ .server = NULL };
	err_clear(&failed);
	if ((path ? load_kubeconfig(path, out, &failed) : load_mount(mount, out, &failed)) == 0)
		return 0;
	kube_config_done(out);
	if (err)
		*err = failed;
	return -1;
}

static bool config_equal(const struct kube_config *a, const struct kube_config *b)
{
	return text_equal(a->server, b->server) && text_equal(a->ca_pem, b->ca_pem) &&
		text_equal(a->cert_pem, b->cert_pem) && text_equal(a->key_pem, b->key_pem) &&
		text_equal(a->token, b->token) && text_equal(a->tls_server_name, b->tls_server_name) &&
		text_equal(a->proxy_url, b->proxy_url) && a->insecure == b->insecure;
}

int kube_config_refresh(struct kube_config *config, bool *changed, struct err *err)
{
	MEM_AUTO char *mount = NULL;
	struct kube_config fresh;

	*changed = false;
	if (!files_changed(&config->files))
		return 0;
	if (!config->kubeconfig_path)
		mount = mem_dupn(config->token_file, strlen(config->token_file) - strlen("/token"));
	if (kube_config_load(config->kubeconfig_path, mount, &fresh, err) < 0)
		return err_wrap(err, "reading the credentials again");
	fresh.dead_peer_ms = config->dead_peer_ms;
	*changed = !config_equal(config, &fresh);
	kube_config_done(config);
	*config = fresh;
	return 0;
}

void kube_config_done(struct kube_config *c)
{
	free(c->server);
	mem_free_secret(c->ca_pem);
	mem_free_secret(c->cert_pem);
	mem_free_secret(c->key_pem);
	mem_free_secret(c->token);
	free(c->token_file);
	free(c->tls_server_name);
	mem_free_secret(c->proxy_url);
	free(c->namespace_);
	free(c->cluster);
	free(c->user);
	free(c->source);
	free(c->kubeconfig_path);
	files_done(&c->files);
	*c = (struct kube_config){ .server = NULL };
}
