/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/kubeconfig.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "base/base64.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/yamljson.h"

#define KUBECONFIG_FILES_MAX 64
#define VALUES_MAX           100000

struct kubeconfig {
	struct kubeconfig_file {
		char *path;
		json_t *root; /* NULL: an empty file */
	} files[KUBECONFIG_FILES_MAX];
	size_t count;
};

struct kubeconfig *kubeconfig_new(void)
{
	return mem_zalloc(sizeof(struct kubeconfig));
}

void kubeconfig_free(struct kubeconfig *kc)
{
	if (!kc)
		return;
	for (size_t i = 0; i < kc->count; i++) {
		free(kc->files[i].path);
		json_decref(kc->files[i].root);
	}
	free(kc);
}

/* Reads the first document; *root stays NULL if there is no document. Scalars are texts or null. */
static int read_document(const char *text, size_t len, json_t **root, struct err *err)
{
	struct yamljson *y = yamljson_new(text, len, VALUES_MAX);
	struct places places = { .list = NULL };
	int rc;

	yamljson_keep_texts(y);
	rc = yamljson_next(y, root, &places, err);
	places_done(&places);
	yamljson_free(y);
	return rc;
}

int kubeconfig_add(struct kubeconfig *kc, const char *text, size_t len, const char *path, struct err *err)
{
	json_t *root = NULL;

	if (kc->count == KUBECONFIG_FILES_MAX)
		return err_set(err, ERR_INVALID, "kubeconfig: more than %d files", KUBECONFIG_FILES_MAX);
	if (len > KUBECONFIG_SIZE_MAX)
		return err_set(err, ERR_INVALID, "kubeconfig %s: larger than %d bytes", path, KUBECONFIG_SIZE_MAX);
	if (read_document(text, len, &root, err) < 0)
		return err_wrap(err, "kubeconfig %s", path);
	kc->files[kc->count].path = mem_dup(path);
	kc->files[kc->count].root = root;
	kc->count++;
	return 0;
}

/* ---- A part of a file, and its name in messages ---- */

struct part {
	const struct kubeconfig_file *file;
	const json_t *node; /* a mapping, null, or NULL: none */
	const char *kind;   /* "cluster", "user", "context" */
	const char *name;   /* borrowed */
};

static int refuse_field(const struct part *at, const char *field, const char *why, struct err *err)
{
	return err_set(err, ERR_INVALID, "kubeconfig %s: %s \"%s\": %s: %s", at->file->path, at->kind, at->name, field,
		why);
}

/* Present and not null. */
static const json_t *field_of(const struct part *at, const char *field)
{
	const json_t *node = json_object_get(at->node, field);

	return json_is_null(node) ? NULL : node;
}

/* *out is a copy, or NULL when absent or empty. */
static int text_field(const struct part *at, const char *field, char **out, struct err *err)
{
	const json_t *node = field_of(at, field);
	const char *text = json_plain_text(node);

	*out = text && *text ? mem_dup(text) : NULL;
	return node && !text ? refuse_field(at, field, "must be a string without NUL bytes", err) : 0;
}

static int bool_field(const struct part *at, const char *field, bool *out, struct err *err)
{
	const json_t *node = field_of(at, field);
	const char *text = json_plain_text(node);

	if (!node)
		return 0;
	if (text && strcasecmp(text, "true") == 0)
		*out = true;
	else if (text && strcasecmp(text, "false") == 0)
		*out = false;
	else
		return refuse_field(at, field, "must be true or false", err);
	return 0;
}

/* Relative to the kubeconfig's folder (clientcmd.ResolveLocalPaths). */
static char *resolve(const char *kubeconfig_path, const char *path)
{
	const char *slash = strrchr(kubeconfig_path, '/');

	if (path[0] == '/' || !slash)
		return mem_dup(path);
	return mem_printf("%.*s/%s", (int)(slash - kubeconfig_path), kubeconfig_path, path);
}

/* NULL: not base64, or not text. */
static char *decode_text(const char *base64)
{
	size_t len;
	char *text = base64_decode(base64, &len);

	if (!text || (len > 0 && strlen(text) == len))
		return text;
	mem_wipe(text, len);
	free(text);
	return NULL;
}

/* "<field>-data" (base64) or the path in "<field>"; the data take precedence. */
static int pem_field(const struct part *at, const char *field, struct kubeconfig_source *out, struct err *err)
{
	MEM_AUTO char *data_field = mem_printf("%s-data", field);
	char *data, *path;

	if (text_field(at, data_field, &data, err) < 0)
		return -1;
	if (data) {
		out->inline_text = decode_text(data);
		mem_free_secret(data);
		return out->inline_text ? 0 : refuse_field(at, data_field, "must be base64 of PEM text", err);
	}
	if (text_field(at, field, &path, err) < 0)
		return -1;
	if (path)
		out->file = resolve(at->file->path, path);
	free(path);
	return 0;
}

/* ---- Look-up ---- */

/*
 * Finds the mapping `kind` of the entry with this name in the list `list`, in the first file that
 * has one.
 */
static int find_part(const struct kubeconfig *kc, const char *list, const char *kind, const char *name,
	struct part *out, struct err *err)
{
	for (size_t i = 0; i < kc->count; i++) {
		const struct kubeconfig_file *file = &kc->files[i];
		const json_t *entries = json_object_get(file->root, list), *entry;
		size_t n;

		json_array_foreach(entries, n, entry)
		{
			if (!json_str_is(entry, "name", name))
				continue;
			*out = (struct part){ file, json_object_get(entry, kind), kind, name };
			if (out->node && !json_is_null(out->node) && !json_is_object(out->node))
				return refuse_field(out, kind, "must be a mapping", err);
			return 0;
		}
	}
	return err_set(err, ERR_INVALID, "kubeconfig: there is no %s \"%s\"", kind, name);
}

static int current_context(const struct kubeconfig *kc, char **out, struct err *err)
{
	for (size_t i = 0; i < kc->count; i++) {
		const json_t *node = json_object_get(kc->files[i].root, "current-context");
		const char *text = json_plain_text(node);

		if (!node || json_is_null(node))
			continue;
		if (!text)
			return err_set(err, ERR_INVALID, "kubeconfig %s: current-context: must be a string",
				kc->files[i].path);
		if (!*text)
			continue;
		*out = mem_dup(text);
		return 0;
	}
	return err_set(err, ERR_INVALID,
		"kubeconfig%s%s: no current-context is set (kubectl config use-context NAME sets one)",
		kc->count ? " " : "", kc->count ? kc->files[0].path : "");
}

/* ---- The three parts ---- */

static int choose_cluster(const struct part *at, struct kubeconfig_choice *out, struct err *err)
{
	const char *host;
	size_t len;

	if (text_field(at, "server", &out->server, err) < 0 ||
		text_field(at, "tls-server-name", &out->tls_server_name, err) < 0 ||
		text_field(at, "proxy-url", &out->proxy_url, err) < 0 ||
		bool_field(at, "insecure-skip-tls-verify", &out->insecure, err) < 0 ||
		pem_field(at, "certificate-authority", &out->ca, err) < 0)
		return -1;
	if (!out->server)
		return refuse_field(at, "server", "is missing", err);
	host = text_behind_nocase(out->server, "https://");
	if (!host)
		host = text_behind_nocase(out->server, "http://");
	if (!host)
		return refuse_field(at, "server", "must start with https://", err);
	if (!*host || *host == '/' || strpbrk(host, " \t\r\n?#"))
		return refuse_field(at, "server", "must be https://HOST:PORT, with a path at most", err);
	for (len = strlen(out->server); out->server[len - 1] == '/'; len--)
		out->server[len - 1] = '\0';
	if (out->proxy_url && !text_behind_nocase(out->proxy_url, "http://") &&
		!text_behind_nocase(out->proxy_url, "https://") && !text_behind_nocase(out->proxy_url, "socks5://"))
		return refuse_field(at, "proxy-url", "must start with http://, https:// or socks5://", err);
	if (out->insecure && (out->ca.inline_text || out->ca.file))
		return refuse_field(at, "insecure-skip-tls-verify", "cannot be combined with certificate-authority",
			err);
	return 0;
}

#define NO_PASSWORDS "Kubernetes has no basic authentication any more: use a token or a client certificate"
#define NOBODY_ELSE  "impersonation is not supported: give kscaled a user of its own"

/*
 * Credentials that need another program, a cloud library or impersonation: not supported, and
 * refused rather than ignored.
 */
static const struct {
	const char *field, *hint;
} refused[] = {
	{ "exec",
		"credential plugins are not run: use a token, a tokenFile or a client certificate (for instance of a "
		"service account)" },
	{ "auth-provider", "not supported: use a token, a tokenFile or a client certificate" },
	{ "username", NO_PASSWORDS },
	{ "password", NO_PASSWORDS },
	{ "as", NOBODY_ELSE },
	{ "as-uid", NOBODY_ELSE },
	{ "as-groups", NOBODY_ELSE },
	{ "as-user-extra", NOBODY_ELSE },
};

static int choose_user(const struct part *at, struct kubeconfig_choice *out, struct err *err)
{
	char *token_file;

	for (size_t i = 0; i < sizeof refused / sizeof *refused; i++) {
		const json_t *node = field_of(at, refused[i].field);
		const char *text = json_plain_text(node);

		if (node && !(text && !*text))
			return refuse_field(at, refused[i].field, refused[i].hint, err);
	}
	if (pem_field(at, "client-certificate", &out->cert, err) < 0 ||
		pem_field(at, "client-key", &out->key, err) < 0 ||
		text_field(at, "token", &out->token.inline_text, err) < 0 ||
		text_field(at, "tokenFile", &token_file, err) < 0)
		return -1;
	if (token_file)
		out->token.file = resolve(at->file->path, token_file);
	free(token_file);
	if (!(out->cert.inline_text || out->cert.file) != !(out->key.inline_text || out->key.file))
		return refuse_field(at, "client-certificate", "client-certificate and client-key are both needed", err);
	return 0;
}

static int choose(const struct kubeconfig *kc, struct kubeconfig_choice *out, struct err *err)
{
	struct part part;

	if (current_context(kc, &out->context, err) < 0 ||
		find_part(kc, "contexts", "context", out->context, &part, err) < 0)
		return -1;
	out->origin = mem_dup(part.file->path);
	if (text_field(&part, "cluster", &out->cluster, err) < 0 || text_field(&part, "user", &out->user, err) < 0 ||
		text_field(&part, "namespace", &out->namespace_, err) < 0)
		return -1;
	if (!out->cluster)
		return refuse_field(&part, "cluster", "is missing", err);
	if (find_part(kc, "clusters", "cluster", out->cluster, &part, err) < 0 || choose_cluster(&part, out, err) < 0)
		return -1;
	if (!out->user)
		return 0; /* anonymous */
	return find_part(kc, "users", "user", out->user, &part, err) < 0 ? -1 : choose_user(&part, out, err);
}

int kubeconfig_choose(const struct kubeconfig *kc, struct kubeconfig_choice *out, struct err *err)
{
	*out = (struct kubeconfig_choice){ .context = NULL };
	if (choose(kc, out, err) == 0)
		return 0;
	kubeconfig_choice_done(out);
	return -1;
}

static void source_done(struct kubeconfig_source *s)
{
	mem_free_secret(s->inline_text);
	free(s->file);
}

void kubeconfig_choice_done(struct kubeconfig_choice *c)
{
	free(c->context);
	free(c->origin);
	free(c->cluster);
	free(c->user);
	free(c->server);
	free(c->tls_server_name);
	mem_free_secret(c->proxy_url); /* may hold user:password */
	free(c->namespace_);
	source_done(&c->ca);
	source_done(&c->cert);
	source_done(&c->key);
	source_done(&c->token);
	*c = (struct kubeconfig_choice){ .context = NULL };
}
