/* SPDX-License-Identifier: Apache-2.0 */
#include "serve/access/frontproxy.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include <openssl/ssl.h>

#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"
#include "base/textlist.h"
#include "kube/informer.h"
#include "net/tls/x509.h"
#include "serve/access/frontproxyconfig.h"

#define NAME          "extension-apiserver-authentication"
#define SUBJECT       "configmap kube-system/" NAME
#define EXTRA_MAX     256
#define EXTRA_KEY_MAX 512
#define MEMO_MAX      8192 /* longer headers are not cached */

struct frontproxy {
	struct informer informer;
	struct frontproxy_config config; /* in force while roots is set */
	X509_STORE *roots;
	unsigned version;
	struct err trouble; /* why there are no roots, or why the newest ConfigMap is not in force */
};

/* ---- The ConfigMap ---- */

static void forget_config(struct frontproxy *f)
{
	frontproxy_config_done(&f->config);
	X509_STORE_free(f->roots);
	f->roots = NULL;
	f->version++;
}

static int take_config(struct frontproxy *f, const json_t *configmap, struct err *err)
{
	struct frontproxy_config config = { 0 };
	X509_STORE *roots;

	if (frontproxy_config_decode(configmap, &config, err))
		return -1;
	roots = x509_store_from_pem(config.ca_pem, err);
	if (!roots) {
		frontproxy_config_done(&config);
		return err_wrap(err, "requestheader-client-ca-file");
	}
	forget_config(f);
	f->config = config;
	f->roots = roots;
	return 0;
}

static void on_object(void *arg, const json_t *configmap)
{
	struct frontproxy *f = arg;

	if (!take_config(f, configmap, &f->trouble)) {
		err_clear(&f->trouble);
		return;
	}
	log_warn(SUBJECT, "%s%s", f->trouble.msg, f->roots ? "; its last valid content stays in force" : "");
	err_wrap(&f->trouble, SUBJECT);
}

static void on_deleted(void *arg, const json_t *configmap)
{
	struct frontproxy *f = arg;

	(void)configmap;
	forget_config(f);
	err_set(&f->trouble, ERR_MISSING, SUBJECT ": does not exist");
}

/* After the first list a failing watch changes nothing: the last ConfigMap stays in force. */
static void on_trouble(void *arg, const struct err *err)
{
	struct frontproxy *f = arg;

	if (err && !f->informer.synced)
		f->trouble = *f->informer.trouble;
}

static const struct informer_events events = {
	.on_object = on_object,
	.on_deleted = on_deleted,
	.on_trouble = on_trouble,
};

struct frontproxy *frontproxy_new(struct kube *kube)
{
	static const struct informer_config config = {
		.path = "/api/v1/namespaces/kube-system/configmaps",
		.name = NAME,
		.subject = SUBJECT,
		.failing = SUBJECT ": cannot be read",
	};
	struct frontproxy *f = mem_zalloc(sizeof(*f));

	f->version = 1;
	err_set(&f->trouble, ERR_TEMPORARY, SUBJECT ": was not read yet");
	informer_start(&f->informer, kube, &config, &events, f);
	return f;
}

void frontproxy_free(struct frontproxy *f)
{
	if (!f)
		return;
	informer_stop(&f->informer);
	forget_config(f);
	free(f);
}

const char *frontproxy_trouble(const struct frontproxy *f)
{
	return f->roots ? NULL : f->trouble.msg;
}

unsigned frontproxy_version(const struct frontproxy *f)
{
	return f->version;
}

/* ---- The certificate ---- */

int frontproxy_verify(const struct frontproxy *f, SSL *tls, struct err *err)
{
	X509 *leaf = SSL_get0_peer_certificate(tls);
	char common_name[256];

	if (!leaf)
		return err_set(err, ERR_DENIED, "no client certificate");
	if (!f->roots)
		return err_set(err, ERR_TEMPORARY, "the front proxy's certificate authority is not known: %s",
			f->trouble.msg);
	x509_common_name(leaf, common_name, sizeof(common_name));
	if (x509_verify_client(f->roots, leaf, SSL_get_peer_cert_chain(tls), err))
		return err_wrap(err, "client certificate \"%s\" is not the front proxy's", common_name);
	if (!frontproxy_config_allows(&f->config, common_name))
		return err_set(err, ERR_DENIED,
			"client certificate \"%s\": the name is not in requestheader-allowed-names", common_name);
	return 0;
}

/* ---- The headers ---- */

/* k8s.io/apiserver pkg/authentication/request/headerrequest/requestheader.go */

static const char *first_value(const struct frontproxy_names *names, const struct httpd_request *r)
{
	for (size_t i = 0; i < names->count; i++) {
		const char *value = httpd_header(r, names->list[i]);

		if (value && *value)
			return value;
	}
	return NULL;
}

struct collect {
	const struct frontproxy_config *config;
	struct review_user *user;
	bool too_many;
};

static bool is_among(const struct frontproxy_names *names, const char *name)
{
	for (size_t i = 0; i < names->count; i++)
		if (text_equal_nocase(name, names->list[i]))
			return true;
	return false;
}

/* The part after the prefix; NULL if the header is not an extra one. */
static const char *behind_prefix(const struct frontproxy_config *c, const char *name)
{
	for (size_t i = 0; i < c->extra_prefixes.count; i++) {
		const char *behind = text_behind_nocase(name, c->extra_prefixes.list[i]);

		if (behind)
			return behind;
	}
	return NULL;
}

/* The key: in lower case, percent-decoded if possible. */
static void extra_key(const char *name, char *out, size_t size)
{
	char lower[EXTRA_KEY_MAX];
	size_t n;

	for (n = 0; name[n] && n < sizeof(lower) - 1; n++)
		lower[n] = (char)tolower((unsigned char)name[n]);
	lower[n] = '\0';
	if (httpd_decode(lower, n, false, out, size))
		memcpy(out, lower, n + 1);
}

static void on_header(void *arg, const char *name, const char *value)
{
	struct collect *c = arg;
	const char *extra = behind_prefix(c->config, name);
	char key[EXTRA_KEY_MAX];

	if (is_among(&c->config->group_headers, name) && *value) {
		c->too_many |= c->user->group_count >= REVIEW_GROUPS_MAX;
		if (!c->too_many)
			textlist_add(&c->user->groups, &c->user->group_count, value);
	} else if (extra) {
		c->too_many |= c->user->extra_count >= EXTRA_MAX;
		extra_key(extra, key, sizeof(key));
		if (!c->too_many)
			requester_add_extra(c->user, key, value);
	}
}

static struct requester *read_user(const struct frontproxy *f, const struct httpd_request *r, struct err *err)
{
	const char *name = first_value(&f->config.user_headers, r);
	const char *uid = first_value(&f->config.uid_headers, r);
	struct review_user user = { 0 };
	struct collect collect = { &f->config, &user, false };
	struct requester *who = NULL;

	if (!name) {
		err_set(err, ERR_DENIED, "the front proxy names no user");
		return NULL;
	}
	httpd_each_header(r, on_header, &collect);
	user.name = mem_dup(name);
	user.uid = mem_dup(uid);
	if (collect.too_many)
		err_set(err, ERR_DENIED, "the front proxy names more than %d groups or %d extra values",
			REVIEW_GROUPS_MAX, EXTRA_MAX);
	else
		who = requester_new(&user);
	review_user_done(&user);
	return who;
}

/* ---- The memo: most requests of a connection are of the same user ---- */

/* All headers that read_user looks at: one left out here would let another user in. */
static bool names_user(const struct frontproxy_config *c, const char *name)
{
	return is_among(&c->user_headers, name) || is_among(&c->uid_headers, name) ||
		is_among(&c->group_headers, name) || behind_prefix(c, name);
}

struct comparison {
	const struct frontproxy_config *config;
	const char *at, *end; /* the rest of the memo */
	bool same;
};

static void compare_header(void *arg, const char *name, const char *value)
{
	struct comparison *c = arg;
	const char *known;

	if (!c->same)
		return;
	if (c->at < c->end && *c->at == *name && strcmp(c->at, name) == 0) {
		known = c->at + strlen(name) + 1;
		c->same = strcmp(known, value) == 0;
		c->at = known + strlen(known) + 1;
	} else {
		c->same = !names_user(c->config, name);
	}
}

static bool remembers(const struct frontproxy *f, const struct httpd_request *r, const struct frontproxy_memo *memo)
{
	struct comparison c = { .config = &f->config, .at = memo->headers.data, .same = true };

	if (!memo->user || memo->version != f->version)
		return false;
	c.end = c.at + memo->headers.len;
	httpd_each_header(r, compare_header, &c);
	return c.same && c.at == c.end;
}

struct note {
	const struct frontproxy_config *config;
	struct buf *headers;
};

static void note_header(void *arg, const char *name, const char *value)
{
	struct note *n = arg;

	if (!names_user(n->config, name))
		return;
	buf_append(n->headers, name, strlen(name) + 1);
	buf_append(n->headers, value, strlen(value) + 1);
}

void frontproxy_forget(struct frontproxy_memo *memo)
{
	requester_unref(memo->user);
	memo->user = NULL;
	buf_done(&memo->headers);
}

static void remember(const struct frontproxy *f, const struct httpd_request *r, struct requester *user,
	struct frontproxy_memo *memo)
{
	struct note note = { &f->config, &memo->headers };

	frontproxy_forget(memo);
	buf_init(&memo->headers, MEMO_MAX);
	httpd_each_header(r, note_header, &note);
	if (buf_failed(&memo->headers))
		return;
	memo->version = f->version;
	memo->user = requester_ref(user);
}

struct requester *frontproxy_user(const struct frontproxy *f, const struct httpd_request *r,
	struct frontproxy_memo *memo, struct err *err)
{
	struct requester *user;

	if (remembers(f, r, memo))
		return requester_ref(memo->user);
	user = read_user(f, r, err);
	if (user)
		remember(f, r, user, memo);
	return user;
}
