/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"
#include "kube/config.h"

#define PEM "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----"
#define KUBECONFIG                                                                                                     \
	"current-context: c\ncontexts: [{name: c, context: {cluster: k, user: u, namespace: n}}]\n"                    \
	"clusters: [{name: k, cluster: {server: 'https://h:6443', certificate-authority: pki/ca.pem}}]\n"              \
	"users: [{name: u, user: {tokenFile: token}}]\n"

struct folder {
	char path[64];
};

static void put(const struct folder *f, const char *name, const char *text)
{
	MEM_AUTO char *path = mem_printf("%s/%s", f->path, name);
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	fputs(text, out);
	assert_int_equal(fclose(out), 0);
}

static char *in(const struct folder *f, const char *name)
{
	return mem_printf("%s/%s", f->path, name);
}

static int set_up(void **state)
{
	static struct folder f;
	MEM_AUTO char *pki = NULL;

	strcpy(f.path, "config-test-XXXXXX");
	assert_non_null(mkdtemp(f.path));
	pki = in(&f, "pki");
	assert_int_equal(mkdir(pki, 0700), 0);
	put(&f, "pki/ca.pem", PEM "\n");
	put(&f, "token", "one\n");
	put(&f, "config", KUBECONFIG);
	setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1", 1);
	setenv("KUBERNETES_SERVICE_PORT", "443", 1);
	*state = &f;
	return 0;
}

static int tear_down(void **state)
{
	static const char *const names[] = { "pki/ca.pem", "pki", "token", "config", "second", "ca.crt", "namespace",
		"target" };
	struct folder *f = *state;

	for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
		MEM_AUTO char *path = in(f, names[i]);

		remove(path);
	}
	return rmdir(f->path);
}

static void kubeconfig_with_files(void **state)
{
	MEM_AUTO char *path = in(*state, "config");
	struct kube_config config;
	struct err err = { .msg = "" };

	if (kube_config_load(path, NULL, &config, &err) < 0)
		fail_msg("%s", err.msg);
	assert_string_equal(config.server, "https://h:6443");
	assert_string_equal(config.ca_pem, PEM);
	assert_string_equal(config.token, "one");
	assert_string_equal(config.namespace_, "n");
	assert_non_null(strstr(config.source, path));
	assert_non_null(strstr(config.source, "\"c\""));
	kube_config_done(&config);
}

static void a_list_may_have_missing_files(void **state)
{
	struct folder *f = *state;
	MEM_AUTO char *list = mem_printf(":%s/missing:%s/second::%s/config", f->path, f->path, f->path);
	MEM_AUTO char *none = mem_printf("%s/missing:%s/gone", f->path, f->path);
	struct kube_config config;
	struct err err = { .msg = "" };

	put(f, "second", "clusters: [{name: k, cluster: {server: 'https://second'}}]\n");
	if (kube_config_load(list, NULL, &config, &err) < 0)
		fail_msg("%s", err.msg);
	assert_string_equal(config.server, "https://second");
	assert_string_equal(config.token, "one");
	kube_config_done(&config);
	assert_int_equal(kube_config_load(none, NULL, &config, &err), -1);
	assert_int_equal(err.kind, ERR_MISSING);
	assert_non_null(strstr(err.msg, "gone"));
	assert_int_equal(kube_config_load("::", NULL, &config, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
}

static void read_files_are_checked(void **state)
{
	static const struct {
		const char *name, *text, *word;
	} cases[] = {
		{ "token", "", "empty" },
		{ "token", " \n\n", "empty" },
		{ "token", "a\r\nX-Evil: b", "token" },
		{ "token", "a b", "token" },
		{ "token", "\xc3\xa4", "token" },
		{ "pki/ca.pem", "hello", "PEM" },
		{ "config", "a: [", "line" },
	};
	struct folder *f = *state;
	MEM_AUTO char *path = in(f, "config");

	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct kube_config config;
		struct err err;

		put(f, "token", "one");
		put(f, "pki/ca.pem", PEM);
		put(f, "config", KUBECONFIG);
		put(f, cases[i].name, cases[i].text);
		assert_int_equal(kube_config_load(path, NULL, &config, &err), -1);
		assert_null(config.server);
		if (!strstr(err.msg, cases[i].word) || !strstr(err.msg, cases[i].name))
			fail_msg("case %zu: \"%s\"", i, err.msg);
	}
}

static void a_folder_is_no_file(void **state)
{
	struct folder *f = *state;
	struct kube_config config;
	struct err err;

	assert_int_equal(kube_config_load(f->path, NULL, &config, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_non_null(strstr(err.msg, "not a regular file"));
}

static void refresh_detects_changes(void **state)
{
	struct folder *f = *state;
	MEM_AUTO char *path = in(f, "config");
	struct kube_config config;
	struct err err;
	bool changed = true;

	assert_int_equal(kube_config_load(path, NULL, &config, &err), 0);
	assert_int_equal(kube_config_refresh(&config, &changed, &err), 0);
	assert_false(changed);
	config.dead_peer_ms = 5000; /* in no file */
	put(f, "token", "second");
	assert_int_equal(kube_config_refresh(&config, &changed, &err), 0);
	assert_true(changed);
	assert_int_equal(config.dead_peer_ms, 5000);
	assert_string_equal(config.token, "second");
	put(f, "token", "second\n"); /* another file, the same token */
	assert_int_equal(kube_config_refresh(&config, &changed, &err), 0);
	assert_false(changed);
	put(f, "pki/ca.pem", PEM "\n" PEM "\n");
	assert_int_equal(kube_config_refresh(&config, &changed, &err), 0);
	assert_true(changed);
	assert_string_equal(config.ca_pem, PEM "\n" PEM);
	kube_config_done(&config);
}

static void a_broken_file_keeps_the_old_values(void **state)
{
	struct folder *f = *state;
	MEM_AUTO char *path = in(f, "config");
	MEM_AUTO char *token = in(f, "token");
	struct kube_config config;
	struct err err;
	bool changed;

	assert_int_equal(kube_config_load(path, NULL, &config, &err), 0);
	remove(token);
	assert_int_equal(kube_config_refresh(&config, &changed, &err), -1);
	assert_false(changed);
	assert_non_null(strstr(err.msg, "token"));
	assert_string_equal(config.token, "one");
	/* It is an error as long as it lasts, and over when the file is back. */
	assert_int_equal(kube_config_refresh(&config, &changed, &err), -1);
	put(f, "token", "three");
	assert_int_equal(kube_config_refresh(&config, &changed, &err), 0);
	assert_true(changed);
	assert_string_equal(config.token, "three");
	kube_config_done(&config);
}

static void in_cluster(void **state)
{
	struct folder *f = *state;
	struct kube_config config;
	struct err err = { .msg = "" };
	bool changed;

	put(f, "ca.crt", PEM);
	put(f, "namespace", "kscaled\n");
	if (kube_config_load(NULL, f->path, &config, &err) < 0)
		fail_msg("%s", err.msg);
	assert_string_equal(config.server, "https://10.0.0.1:443");
	assert_string_equal(config.token, "one");
	assert_string_equal(config.ca_pem, PEM);
	assert_string_equal(config.namespace_, "kscaled");
	assert_null(config.kubeconfig_path);
	put(f, "token", "rotated");
	assert_int_equal(kube_config_refresh(&config, &changed, &err), 0);
	assert_true(changed);
	assert_string_equal(config.token, "rotated");
	kube_config_done(&config);

	setenv("KUBERNETES_SERVICE_HOST", "fd00::1", 1);
	assert_int_equal(kube_config_load(NULL, f->path, &config, &err), 0);
	assert_string_equal(config.server, "https://[fd00::1]:443");
	kube_config_done(&config);
}

/* kubelet swaps a symbolic link; the file that is named stays, as a name. */
static void a_swapped_link_is_seen(void **state)
{
	struct folder *f = *state;
	MEM_AUTO char *token = in(f, "token");
	struct kube_config config;
	struct err err;
	bool changed;

	put(f, "ca.crt", PEM);
	put(f, "target", "two");
	assert_int_equal(kube_config_load(NULL, f->path, &config, &err), 0);
	assert_null(config.namespace_);
	remove(token);
	assert_int_equal(symlink("target", token), 0);
	assert_int_equal(kube_config_refresh(&config, &changed, &err), 0);
	assert_true(changed);
	assert_string_equal(config.token, "two");
	kube_config_done(&config);
}

static void not_in_a_pod(void **state)
{
	struct folder *f = *state;
	struct kube_config config;
	struct err err;

	unsetenv("KUBERNETES_SERVICE_HOST");
	assert_int_equal(kube_config_load(NULL, f->path, &config, &err), -1);
	assert_int_equal(err.kind, ERR_INVALID);
	assert_non_null(strstr(err.msg, "--kubeconfig"));
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
	const struct CMUnitTest tests[] = {
		TEST(kubeconfig_with_files),
		TEST(a_list_may_have_missing_files),
		TEST(read_files_are_checked),
		TEST(a_folder_is_no_file),
		TEST(refresh_detects_changes),
		TEST(a_broken_file_keeps_the_old_values),
		TEST(in_cluster),
		TEST(a_swapped_link_is_seen),
		TEST(not_in_a_pod),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
