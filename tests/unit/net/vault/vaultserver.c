/* SPDX-License-Identifier: Apache-2.0 */
#include "vaultserver.h"

#include "base/buf.h"
#include "base/timestamp.h"
#include "net/vault/vaultreply.h"

const struct vault_login vaultserver_by_token = { .token = "t-1" },
			 vaultserver_by_jwt = { .jwt = "j.w.t", .role = "app", .mount = "kubernetes" };

static void reply(struct httpd_request *r, int status, const char *quoted)
{
	char *text = mem_dup(quoted);

	for (char *c = text; *c != '\0'; c++)
		if (*c == '\'')
			*c = '"';
	httpd_reply(r, status, "application/json", text, strlen(text));
	free(text);
}

static bool starts(const char *text, const char *with)
{
	return strncmp(text, with, strlen(with)) == 0;
}

static void answer_login(struct vaultserver *s, struct httpd_request *r)
{
	struct buf out = BUF_INIT(1024);

	s->logins++;
	snprintf(s->token, sizeof(s->token), "t-%d", s->logins);
	buf_printf(&out, "{'auth':{'client_token':'%s','lease_duration':%lld,'renewable':%s}}", s->token,
		(long long)s->ttl_s, s->renewable ? "true" : "false");
	reply(r, 200, buf_text(&out));
	buf_done(&out);
}

static void answer_life(struct vaultserver *s, struct httpd_request *r, const char *where, const char *ttl)
{
	char text[256];

	snprintf(text, sizeof(text), "{'%s':{'%s':%lld,'renewable':%s}}", where, ttl, (long long)s->ttl_s,
		s->renewable ? "true" : "false");
	reply(r, 200, text);
}

static void answer_issue(struct vaultserver *s, struct httpd_request *r)
{
	struct buf out = BUF_INIT(1024);

	s->issues++;
	buf_printf(&out,
		"{'lease_id':'','lease_duration':0,'data':{'certificate':'CERT-%d','private_key':'KEY-%d','ca_chain':['"
		"A','B'],'issuing_ca':'A'",
		s->issues, s->issues);
	if (s->certificate_s != 0)
		buf_printf(&out, ",'expiration':%lld", (long long)(timestamp_now_ms() / 1000 + s->certificate_s));
	buf_puts(&out, "}}");
	reply(r, 200, buf_text(&out));
	buf_done(&out);
}

static void answer(struct vaultserver *s, struct httpd_request *r)
{
	const char *path = httpd_path(r), *token = httpd_header(r, "X-Vault-Token");
	bool known = token != NULL && strcmp(token, s->token) == 0;

	if (strcmp(path, "/v1/auth/kubernetes/login") == 0)
		answer_login(s, r);
	else if (!known || (s->deny_lookup && strcmp(path, "/v1/auth/token/lookup-self") == 0))
		reply(r, 403, "{'errors':['1 error occurred:\\n\\t* permission denied\\n\\n']}");
	else if (strcmp(path, "/v1/auth/token/lookup-self") == 0)
		answer_life(s, r, "data", "ttl");
	else if (strcmp(path, "/v1/auth/token/renew-self") == 0)
		answer_life(s, r, "auth", "lease_duration");
	else if (strcmp(path, "/v1/secret/forbidden") == 0)
		reply(r, 403, "{'errors':['permission denied']}");
	else if (starts(path, "/v1/secret/"))
		reply(r, s->secret != NULL ? 200 : 404, s->secret != NULL ? s->secret : "{'errors':[]}");
	else if (starts(path, "/v1/pki/issue/"))
		answer_issue(s, r);
	else if (strcmp(path, "/v1/echo") == 0)
		reply(r, 400, "{'errors':['what shall I do with t-1?']}");
	else
		reply(r, 404, "{'errors':['no handler for route']}");
}

static void note(struct vaultserver *s, struct httpd_request *r)
{
	const char *namespace_ = httpd_header(r, "X-Vault-Namespace"), *token = httpd_header(r, "X-Vault-Token"),
		   *path = httpd_path(r);
	size_t len;
	const char *body = httpd_body(r, &len);

	snprintf(s->last_uri, sizeof(s->last_uri), "%s %s", httpd_method(r), httpd_uri(r));
	snprintf(s->last_namespace, sizeof(s->last_namespace), "%s", namespace_ != NULL ? namespace_ : "-");
	snprintf(s->last_token, sizeof(s->last_token), "%s", token != NULL ? token : "-");
	snprintf(s->last_body, sizeof(s->last_body), "%.*s", (int)len, body != NULL ? body : "");
	assert_string_equal(httpd_header(r, "X-Vault-Request"), "true");
	s->lookups += strcmp(path, "/v1/auth/token/lookup-self") == 0;
	s->renewals += strcmp(path, "/v1/auth/token/renew-self") == 0;
	s->reads += starts(path, "/v1/secret/");
}

static void on_request(void *arg, struct httpd_request *r)
{
	struct vaultserver *s = arg;
	char location[512];

	if (s->redirects > 0) {
		s->redirects--;
		snprintf(location, sizeof(location), "%s%s", s->active_url, httpd_uri(r));
		httpd_add_header(r, "Location", location);
		httpd_reply(r, 307, NULL, "", 0);
		return;
	}
	note(s, r);
	if (s->status != 0) {
		httpd_add_header(r, "Retry-After", "3");
		reply(r, s->status, "{'errors':['Vault is sealed']}");
	} else if (s->hold) {
		assert_true(s->held_count < VAULTSERVER_HELD_MAX);
		s->held[s->held_count++] = r;
	} else {
		answer(s, r);
	}
}

static void on_active_request(void *arg, struct httpd_request *r)
{
	struct vaultserver *s = arg;

	note(s, r);
	answer(s, r);
}

void vaultserver_release(struct vaultserver *s)
{
	s->hold = false;
	for (size_t i = 0; i < s->held_count; i++)
		answer(s, s->held[i]);
	s->held_count = 0;
}

int vaultserver_setup(void **state)
{
	struct vaultserver *s = mem_zalloc(sizeof(*s));
	struct httpd_config server;
	struct err err = { .kind = ERR_NONE };
	void *f;

	if (fixture_setup(&f) < 0)
		return -1;
	s->f = f;
	fixture_pairs(s->f);
	httpd_config_defaults(&server);
	server.address = "127.0.0.1";
	s->plain = httpd_new(s->f->loop, &server, on_request, s, &err);
	s->active = httpd_new(s->f->loop, &server, on_active_request, s, &err);
	server.tls = s->tls = tls_server_new(&err);
	tls_server_set_certificate(s->tls, s->f->serving.cert_pem, s->f->serving.key_pem, &err);
	s->secure = httpd_new(s->f->loop, &server, on_request, s, &err);
	s->pool = vault_pool_new(s->f->loop, NULL, false);
	snprintf(s->url, sizeof(s->url), "http://127.0.0.1:%u", httpd_port(s->plain));
	snprintf(s->active_url, sizeof(s->active_url), "http://127.0.0.1:%u", httpd_port(s->active));
	snprintf(s->secure_url, sizeof(s->secure_url), "https://127.0.0.1:%u", httpd_port(s->secure));
	strcpy(s->token, "t-1");
	s->secret = "{'data':{'pw':'s3cret'}}";
	*state = s;
	return 0;
}

int vaultserver_teardown(void **state)
{
	struct vaultserver *s = *state;
	void *f = s->f;

	vault_pool_free(s->pool);
	httpd_free(s->plain);
	httpd_free(s->active);
	httpd_free(s->secure);
	tls_server_free(s->tls);
	mem_free_ptr(&s);
	return fixture_teardown(&f);
}

static void on_value(void *arg, const json_t *answer, int64_t good_for_ms, const struct err *err)
{
	static int told;
	struct outcome *o = arg;
	struct err wrong = { 0 };
	const json_t *data = answer != NULL ? vaultreply_data(answer, o->engine, &wrong) : NULL;
	char *value = data != NULL ? vaultreply_value(data, o->engine, o->key, &wrong) : NULL;

	assert_int_equal(answer == NULL, err != NULL);
	if (answer != NULL && value == NULL)
		err = &wrong;
	o->done++;
	o->order = ++told;
	o->call = NULL;
	o->ok = err == NULL;
	o->good_for_ms = good_for_ms;
	if (err != NULL)
		o->err = *err;
	else
		snprintf(o->value, sizeof(o->value), "%s", value);
	mem_free_secret(value);
	if (o->cancel != NULL && o->cancel->call != NULL) {
		vault_cancel(o->cancel->call);
		o->cancel->call = NULL;
	}
	if (o->start != NULL)
		outcome_secret(o->start, o->s, "secret/x", "pw");
	if (o->free_pool) {
		vault_pool_free(o->s->pool);
		o->s->pool = NULL;
	}
}

void outcome_read(struct outcome *o, struct vaultserver *s, const struct vault_login *login,
	const struct vault_secret *secret, const char *key)
{
	struct vault_server server = { .address = s->url, .namespace_ = s->namespace_, .asker = s->asker };

	o->s = s;
	o->done = 0;
	o->engine = secret->engine;
	snprintf(o->key, sizeof(o->key), "%s", key);
	o->call = vault_read(s->pool, &server, login, secret, loop_now_ms(s->f->loop) + PATIENCE_MS, on_value, o);
	assert_non_null(o->call);
	assert_int_equal(o->done, 0); /* never before it returned */
}

void outcome_secret(struct outcome *o, struct vaultserver *s, const char *path, const char *key)
{
	outcome_read(o, s, &vaultserver_by_token, &(struct vault_secret){ .path = path }, key);
}
