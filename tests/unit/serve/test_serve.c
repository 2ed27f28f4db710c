/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The room over real sockets and real TLS, with the project's own HTTP client; behind it fake_kube
 * and fake_cache. Each step waits for its result, not for a time.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cmocka.h>

#include "../fakes/fakepki.h"
#include "base/json.h"
#include "base/mem.h"
#include "base/timestamp.h"
#include "fake_cache.h"
#include "fake_kube.h"
#include "net/http/httpc.h"
#include "net/tls/x509.h"
#include "serve/serve.h"

#define METRIC                                                                                                         \
	"/apis/external.metrics.k8s.io/v1beta1/namespaces/shop/"                                                       \
	"s0-redis-jobs?labelSelector=scaledobject.keda.sh%2Fname%3Dweb"
#define STUCK_S 60 /* a test that waits so long has failed */

static struct loop *loop;
static struct kube *kube;
static struct fake_cache *cache;
static struct tls_server *tls;
static struct serve *serve;
static struct httpc *client;
static struct x509_pair ca, serving, proxy_ca, proxy;

/* ---- Asking ---- */

struct reply {
	struct httpc_call *call;
	bool done;
	int status; /* 0: the request failed */
	char body[8192];
	struct err err;
};

static void on_done(void *arg, const struct httpc_response *response, const struct err *err)
{
	struct reply *reply = arg;

	reply->done = true;
	if (err) {
		reply->err = *err;
		return;
	}
	reply->status = response->status;
	snprintf(reply->body, sizeof(reply->body), "%s", response->body);
}

static const struct httpc_events events = { .on_done = on_done };

static struct httpc_server trust;

static void ask(struct reply *reply, const char *method, bool secure, const char *uri, const char *token,
	const char *const *headers)
{
	char url[512];
	struct httpc_request request = { .method = method,
		.url = url,
		.bearer = token,
		.headers = headers,
		.server = &trust };

	snprintf(url, sizeof(url), "%s://127.0.0.1:%u%s", secure ? "https" : "http",
		secure ? serve_secure_port(serve) : serve_status_port(serve), uri);
	*reply = (struct reply){ .done = false };
	reply->call = httpc_start(client, &request, &events, reply);
}

#define WAIT_FOR(condition)                                                                                            \
	do {                                                                                                           \
		while (!(condition))                                                                                   \
			loop_turn(loop);                                                                               \
	} while (0)

static void get(struct reply *reply, bool secure, const char *uri, const char *token, const char *const *headers)
{
	ask(reply, "GET", secure, uri, token, headers);
	WAIT_FOR(reply->done);
}

/* ---- Tests ---- */

static void a_metric_is_read_over_tls(void **state)
{
	struct reply r;

	(void)state;
	get(&r, true, METRIC, NULL, NULL);
	assert_int_equal(r.status, 401);
	ask(&r, "GET", true, METRIC, "t", NULL);
	WAIT_FOR(fake_kube_token_reviews(kube));
	assert_string_equal(fake_kube_token(kube), "t");
	fake_kube_answer_token(kube, "mia", NULL);
	WAIT_FOR(fake_kube_access_reviews(kube));
	fake_kube_answer_access(kube, true, NULL);
	WAIT_FOR(cache->asked);
	assert_false(r.done);
	fake_cache_answer(cache, 1.5);
	WAIT_FOR(r.done);
	assert_int_equal(r.status, 200);
	assert_non_null(strstr(r.body, "\"value\":\"1500m\""));
	cache->memory = FAKE_ANSWER;
	cache->value = 4;
	get(&r, true, METRIC, "t", NULL);
	assert_non_null(strstr(r.body, "\"value\":\"4\""));
	ask(&r, "HEAD", true, METRIC, "t", NULL);
	WAIT_FOR(r.done);
	assert_int_equal(r.status, 200);
	assert_string_equal(r.body, "");
	assert_int_equal(fake_kube_token_reviews_ever(kube), 1);
	assert_int_equal(fake_kube_access_reviews_ever(kube), 1);
}

static void say_configmap(void)
{
	json_t *configmap = json_pack("{s:{s:s,s:s,s:s}}", "data", "requestheader-client-ca-file", proxy_ca.cert_pem,
		"requestheader-username-headers", "[\"X-Remote-User\"]", "requestheader-group-headers",
		"[\"X-Remote-Group\"]");
	char *text = json_dumps(configmap, 0);

	fake_kube_list(kube, text);
	free(text);
	json_decref(configmap);
}

static void the_front_proxy_is_known_by_its_certificate(void **state)
{
	static const char *const headers[] = { "X-Remote-User: system:kube-aggregator",
		"X-Remote-Group: system:masters", NULL };
	struct reply r;

	(void)state;
	get(&r, true, "/apis", NULL, headers);
	assert_int_equal(r.status, 401);
	trust.cert_pem = proxy.cert_pem;
	trust.key_pem = proxy.key_pem;
	httpc_drop_connections(client);
	get(&r, true, "/apis", NULL, headers);
	assert_int_equal(r.status, 401);
	assert_non_null(strstr(r.body, "was not read yet"));
	say_configmap(); /* on the same connection */
	get(&r, true, "/apis", NULL, headers);
	assert_int_equal(r.status, 200);
	assert_non_null(strstr(r.body, "APIGroupList"));
	assert_int_equal(fake_kube_access_reviews_ever(kube), 0);
}

static void a_client_that_hangs_up_waits_no_longer(void **state)
{
	struct reply r;

	(void)state;
	ask(&r, "GET", true, METRIC, "t", NULL);
	WAIT_FOR(fake_kube_token_reviews(kube));
	fake_kube_answer_token(kube, "root", "system:masters");
	WAIT_FOR(cache->asked);
	httpc_cancel(r.call);
	WAIT_FOR(cache->cancelled);
	assert_false(r.done);
	get(&r, false, "/metrics", NULL, NULL);
	assert_int_equal(r.status, 200);
}

static void the_servers_end_answers_waiting_clients(void **state)
{
	struct reply r;

	(void)state;
	ask(&r, "GET", true, METRIC, "t", NULL);
	WAIT_FOR(fake_kube_token_reviews(kube));
	fake_kube_answer_token(kube, "root", "system:masters");
	WAIT_FOR(cache->asked);
	serve_free(serve);
	serve = NULL;
	WAIT_FOR(r.done);
	assert_int_equal(r.status, 503);
}

static void probes_answer_before_there_is_a_certificate(void **state)
{
	struct tls_server *none = tls_server_new(NULL);
	struct serve_config config = { .bind_address = "127.0.0.1", .status_address = "127.0.0.1:0", .version = "1" };
	struct reply r;

	(void)state;
	serve_free(serve);
	serve = serve_new(&cache->cache, kube, none, &config, NULL);
	assert_non_null(serve);
	get(&r, false, "/readyz", NULL, NULL);
	assert_int_equal(r.status, 503);
	assert_non_null(strstr(r.body, "[-]certificate failed"));
	get(&r, false, "/livez", NULL, NULL);
	assert_int_equal(r.status, 200);
	get(&r, true, "/livez", NULL, NULL);
	assert_int_equal(r.status, 0); /* never plain HTTP on the TLS port */
	assert_int_equal(tls_server_set_certificate(none, serving.cert_pem, serving.key_pem, NULL), 0);
	get(&r, true, "/livez", NULL, NULL);
	assert_int_equal(r.status, 200);
	serve_free(serve);
	serve = NULL;
	tls_server_free(none);
}

/* Another replica is to be asked; a restart would not help. */
static void without_the_api_server_it_is_alive_and_not_ready(void **state)
{
	struct reply r;

	(void)state;
	fake_kube_lose_contact(kube, "the API server has not answered for 12 s: no route");
	get(&r, false, "/readyz", NULL, NULL);
	assert_int_equal(r.status, 503);
	assert_non_null(strstr(r.body, "[-]api-server failed: the API server has not answered for 12 s: no route"));
	get(&r, false, "/livez", NULL, NULL);
	assert_int_equal(r.status, 200);
	get(&r, false, "/healthz", NULL, NULL);
	assert_int_equal(r.status, 200);
	fake_kube_lose_contact(kube, NULL);
	get(&r, false, "/readyz/api-server", NULL, NULL);
	assert_int_equal(r.status, 200);
}

static void a_port_that_is_taken_is_named(void **state)
{
	struct serve_config config = { .bind_address = "127.0.0.1",
		.secure_port = serve_secure_port(serve),
		.status_address = "",
		.version = "1" };
	char taken[32];
	struct err err = { 0 };

	(void)state;
	assert_null(serve_new(&cache->cache, kube, tls, &config, &err));
	assert_non_null(strstr(err.msg, "HTTPS port"));
	config.secure_port = 0;
	snprintf(taken, sizeof(taken), "127.0.0.1:%u", serve_status_port(serve));
	config.status_address = taken;
	assert_null(serve_new(&cache->cache, kube, tls, &config, &err));
	assert_non_null(strstr(err.msg, "status address"));
	config.status_address = "8080";
	assert_null(serve_new(&cache->cache, kube, tls, &config, &err));
	assert_non_null(strstr(err.msg, "\"8080\""));
	config.status_address = "";
	{
		struct serve *other = serve_new(&cache->cache, kube, tls, &config, &err);

		assert_non_null(other);
		assert_int_equal(serve_status_port(other), 0);
		serve_free(other);
	}
	serve_free(NULL);
}

/* ---- The Unix socket ---- */

/* One anonymous GET over it; into a NUL-terminated text. */
static void get_unix(const char *path, const char *uri, char *answer, size_t size)
{
	struct sockaddr_un address = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	MEM_AUTO char *request = mem_printf("GET %s HTTP/1.1\r\nHost: kscaled\r\nConnection: close\r\n\r\n", uri);
	size_t len = 0;
	ssize_t got = -1;

	snprintf(address.sun_path, sizeof(address.sun_path), "%s", path);
	assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
	assert_int_equal(write(fd, request, strlen(request)), strlen(request));
	while (got != 0) {
		got = recv(fd, answer + len, size - len - 1, MSG_DONTWAIT);
		if (got > 0)
			len += (size_t)got;
		else if (got < 0)
			loop_turn(loop);
	}
	answer[len] = '\0';
	close(fd);
}

static void the_socket_answers_those_who_may_open_it(void **state)
{
	char folder[] = "/tmp/test_serve.XXXXXX", answer[16384];
	MEM_AUTO char *path = NULL;
	struct serve_config config = { .bind_address = "127.0.0.1", .status_address = "", .version = "1" };
	struct err err = { 0 };
	struct serve *other;
	struct stat st;

	(void)state;
	assert_non_null(mkdtemp(folder));
	path = mem_printf("%s/insight.sock", folder);
	config.insight_socket = path;
	other = serve_new(&cache->cache, kube, tls, &config, &err);
	assert_non_null(other);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	get_unix(path, "/apis/insight.kscaled.io/v1/scaledobjectinsights", answer, sizeof(answer));
	assert_non_null(strstr(answer, "HTTP/1.1 200"));
	assert_non_null(strstr(answer, "ScaledObjectInsightList"));
	get_unix(path, "/metrics", answer, sizeof(answer));
	assert_non_null(strstr(answer, "HTTP/1.1 404"));
	assert_int_equal(fake_kube_token_reviews_ever(kube), 0);
	/* Where one answers there is no place for another. */
	assert_null(serve_new(&cache->cache, kube, tls, &config, &err));
	assert_non_null(strstr(err.msg, "insight socket: "));
	assert_non_null(strstr(err.msg, "another process answers there"));
	serve_free(other);
	assert_int_equal(stat(path, &st), -1);
	assert_int_equal(rmdir(folder), 0);
}

/* ---- Life ---- */

static int make_certificates(void **state)
{
	const char *const names[] = { "127.0.0.1", NULL }, *const aggregator[] = { "aggregator", NULL };
	int64_t now = timestamp_now_ms();

	(void)state;
	alarm(STUCK_S);
	fakepki_authority("ca", now, 3600, &ca);
	fakepki_certificate(&ca, names, now, 3600, &serving);
	fakepki_authority("proxy", now, 3600, &proxy_ca);
	fakepki_certificate(&proxy_ca, aggregator, now, 3600, &proxy);
	return 0;
}

static int free_certificates(void **state)
{
	(void)state;
	x509_pair_done(&ca);
	x509_pair_done(&serving);
	x509_pair_done(&proxy_ca);
	x509_pair_done(&proxy);
	return 0;
}

static int set_up(void **state)
{
	struct serve_config config = { .bind_address = "127.0.0.1",
		.status_address = "127.0.0.1:0",
		.metrics_max_age_ms = 1000,
		.metrics_deadline_ms = 3600000,
		.version = "1" };
	struct httpc_config pool = { 0 };

	(void)state;
	loop = loop_new(NULL);
	kube = fake_kube_new(loop);
	cache = fake_cache_new(loop);
	tls = tls_server_new(NULL);
	trust = (struct httpc_server){ .ca_pem = ca.cert_pem };
	if (tls_server_set_certificate(tls, serving.cert_pem, serving.key_pem, NULL))
		return -1;
	serve = serve_new(&cache->cache, kube, tls, &config, NULL);
	client = httpc_new(loop, &pool, NULL);
	return serve && client ? 0 : -1;
}

static int tear_down(void **state)
{
	(void)state;
	httpc_free(client);
	serve_free(serve);
	tls_server_free(tls);
	fake_cache_free(cache);
	fake_kube_free(kube);
	loop_free(loop);
	return 0;
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_metric_is_read_over_tls),
		TEST(the_front_proxy_is_known_by_its_certificate),
		TEST(a_client_that_hangs_up_waits_no_longer),
		TEST(the_servers_end_answers_waiting_clients),
		TEST(probes_answer_before_there_is_a_certificate),
		TEST(without_the_api_server_it_is_alive_and_not_ready),
		TEST(a_port_that_is_taken_is_named),
		TEST(the_socket_answers_those_who_may_open_it),
	};

	return cmocka_run_group_tests(tests, make_certificates, free_certificates);
}
