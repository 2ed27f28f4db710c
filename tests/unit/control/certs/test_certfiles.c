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

#include "base/json.h"
#include "base/log.h"
#include "base/mem.h"
#include "certs_fixture.h"
#include "control/certs/reviewpaths.h"

static char dir[64];

static char *in_dir(const char *name)
{
	return mem_printf("%s/%s", dir, name);
}

static void write_file(const char *name, const char *text)
{
	char *path = in_dir(name), *aside = in_dir("aside");
	FILE *f = fopen(aside, "w");

	assert_non_null(f);
	fputs(text, f);
	fclose(f);
	assert_int_equal(rename(aside, path), 0);
	free(path);
	free(aside);
}

static void remove_files(void)
{
	static const char *const all[] = { "tls.crt", "tls.key" };

	for (size_t i = 0; i < 2; i++) {
		char *path = in_dir(all[i]);

		unlink(path);
		free(path);
	}
	rmdir(dir);
}

static int setup_files(void **state)
{
	certs_setup(state);
	strcpy(dir, "certs-test-XXXXXX");
	assert_non_null(mkdtemp(dir));
	return 0;
}

static int teardown_files(void **state)
{
	remove_files();
	return certs_teardown(state);
}

static int start_with_files(struct err *err)
{
	struct certs_config config = certs_usual();
	MEM_AUTO char *cert = in_dir("tls.crt"), *key = in_dir("tls.key");

	config.cert_file = cert;
	config.key_file = key;
	return certs_try_with(config, err);
}

static void files_are_served_and_the_cluster_left_alone(void **state)
{
	struct certpack pack = fresh_pack();
	struct err err;

	(void)state;
	write_file("tls.crt", pack.serving.cert_pem);
	write_file("tls.key", pack.serving.key_pem);
	put_apiservice("kscaled", "kscaled", ",\"caBundle\":\"AAAA\"");
	assert_int_equal(start_with_files(&err), 0);
	assert_true(serves(pack.serving.cert_pem));
	certs_set_leading(t.certs, true);
	fake_advance(60000);
	assert_int_equal(fake_count(FAKE_ANY, ""), 0);
	assert_null(fake_object(SECRET));
	assert_null(certs_trouble(t.certs));
	assert_string_equal(t.who, "-");
	certpack_done(&pack);
}

#define CONFIG "/apis/admissionregistration.k8s.io/v1/validatingwebhookconfigurations/kscaled-admission"

/* Whom the API server trusts is the user's business then; where it asks need not be. */
static void reviews_have_a_secret_path_with_files_too(void **state)
{
	struct certpack pack = fresh_pack();
	const json_t *client_config;
	const char *path;
	struct err err;

	(void)state;
	write_file("tls.crt", pack.serving.cert_pem);
	write_file("tls.key", pack.serving.key_pem);
	put_our_apiservice();
	fake_put(CONFIG,
		"{\"metadata\":{\"name\":\"kscaled-admission\"},\"webhooks\":[{\"name\":\"a\",\"clientConfig\":{"
		"\"service\":{\"namespace\":\"kscaled\",\"name\":\"kscaled\",\"path\":\"/validate\"},"
		"\"caBundle\":\"AAAA\"}}]}");
	assert_int_equal(start_with_files(&err), 0);
	certs_set_leading(t.certs, true);
	fake_advance(100);
	client_config = json_object_get(json_array_get(json_object_get(fake_object(CONFIG), "webhooks"), 0),
		"clientConfig");
	path = json_str_or_empty(json_object_get(client_config, "service"), "path");
	assert_true(reviewpaths_is_secret(path));
	assert_true(certs_asks_for_reviews_at(t.certs, path, strlen(path)));
	assert_string_equal(json_str_or_empty(client_config, "caBundle"), "AAAA");
	fake_advance(60000);
	assert_int_equal(fake_count(KUBE_MERGE_PATCH, ""), 1);
	certpack_done(&pack);
}

static void files_that_are_broken_at_the_start(void **state)
{
	struct certpack pack = fresh_pack(), other = fresh_pack();
	struct err err;

	(void)state;
	assert_int_equal(start_with_files(&err), -1);
	assert_int_equal(err.kind, ERR_MISSING);
	assert_non_null(strstr(err.msg, "tls.crt"));
	write_file("tls.crt", pack.serving.cert_pem);
	assert_int_equal(start_with_files(&err), -1);
	assert_non_null(strstr(err.msg, "tls.key"));
	write_file("tls.key", other.serving.key_pem);
	assert_int_equal(start_with_files(&err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	write_file("tls.crt", "nonsense");
	assert_int_equal(start_with_files(&err), -1);
	assert_non_null(strstr(err.msg, "tls.crt"));
	certpack_done(&pack);
	certpack_done(&other);
}

static void changed_files_are_read_again(void **state)
{
	struct certpack pack = fresh_pack(), other = fresh_pack();
	struct err err;

	(void)state;
	write_file("tls.crt", pack.serving.cert_pem);
	write_file("tls.key", pack.serving.key_pem);
	assert_int_equal(start_with_files(&err), 0);
	/* One file, and a little later the other: the pair between is never tried. */
	fake_advance(4900);
	write_file("tls.crt", other.serving.cert_pem);
	fake_advance(200);
	write_file("tls.key", other.serving.key_pem);
	fake_advance(10000);
	assert_true(serves(other.serving.cert_pem));
	assert_int_equal(fake_logged_at(LOG_LEVEL_ERROR, ""), 0);
	assert_int_equal(fake_logged("read again"), 1);
	certpack_done(&pack);
	certpack_done(&other);
}

static void new_files_that_are_broken_keep_the_old(void **state)
{
	struct certpack pack = fresh_pack(), other = fresh_pack();
	struct err err;

	(void)state;
	write_file("tls.crt", pack.serving.cert_pem);
	write_file("tls.key", pack.serving.key_pem);
	assert_int_equal(start_with_files(&err), 0);
	write_file("tls.key", other.serving.key_pem);
	fake_advance(600000);
	assert_true(serves(pack.serving.cert_pem));
	assert_int_equal(fake_logged_at(LOG_LEVEL_ERROR, "the old certificate stays in use"), 1);
	assert_non_null(certs_trouble(t.certs));
	assert_int_equal(fake_logged(other.serving.key_pem), 0);
	write_file("tls.crt", other.serving.cert_pem);
	fake_advance(10000);
	assert_true(serves(other.serving.cert_pem));
	assert_true(!certs_trouble(t.certs) || strstr(certs_trouble(t.certs), "APIService"));
	certpack_done(&pack);
	certpack_done(&other);
}

static void files_are_read_at_once_on_reload(void **state)
{
	struct certpack pack = fresh_pack(), other = fresh_pack();
	struct err err;

	(void)state;
	write_file("tls.crt", pack.serving.cert_pem);
	write_file("tls.key", pack.serving.key_pem);
	assert_int_equal(start_with_files(&err), 0);
	write_file("tls.crt", other.serving.cert_pem);
	write_file("tls.key", other.serving.key_pem);
	certs_reload(t.certs);
	assert_true(serves(other.serving.cert_pem));
	certpack_done(&pack);
	certpack_done(&other);
}

static void expiring_files_are_reported_once(void **state)
{
	struct certpack pack = make_pack(certs_names, 0, 3600000, 0, 3650 * DAY_MS);
	struct err err;

	(void)state;
	write_file("tls.crt", pack.serving.cert_pem);
	write_file("tls.key", pack.serving.key_pem);
	put_our_apiservice();
	assert_int_equal(start_with_files(&err), 0);
	fake_advance(3500000);
	assert_null(certs_trouble(t.certs));
	fake_advance(200000);
	assert_non_null(strstr(certs_trouble(t.certs), "expired"));
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "expired"), 1);
	certpack_done(&pack);
}

#define F(fn) cmocka_unit_test_setup_teardown(fn, setup_files, teardown_files)

int main(void)
{
	const struct CMUnitTest tests[] = {
		F(files_are_served_and_the_cluster_left_alone),
		F(reviews_have_a_secret_path_with_files_too),
		F(files_that_are_broken_at_the_start),
		F(changed_files_are_read_again),
		F(new_files_that_are_broken_keep_the_old),
		F(files_are_read_at_once_on_reload),
		F(expiring_files_are_reported_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
