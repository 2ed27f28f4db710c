/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/host/hostfiles.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "base/mem.h"

static char folder[] = "/tmp/test_hostfiles.XXXXXX";

/* The daemon can read the files, with the same server and CA. */
static void written_files_can_be_read(void **state)
{
	MEM_AUTO char *etc = mem_printf("%s/etc/kscaled", folder), *lib = mem_printf("%s/lib/kscaled", folder),
		      *path = mem_printf("%s/kubeconfig", etc), *token_file = mem_printf("%s/token", lib);
	struct hostfiles files = { etc, lib };
	struct kube_config admin = { .server = (char[]){ "https://10.0.0.1:6443" },
		.ca_pem = (char[]){ "-----BEGIN CERTIFICATE-----\nx\n-----END CERTIFICATE-----" },
		.tls_server_name = (char[]){ "kubernetes" },
		.proxy_url = (char[]){ "http://proxy:3128" },
		.token = (char[]){ "admins" } };
	MEM_AUTO char *text = hostfiles_kubeconfig(&files, &admin, "kscaled");
	struct kube_config read;
	struct stat st;
	struct err err;

	(void)state;
	assert_null(strstr(text, "admins"));
	for (int again = 0; again < 2; again++)
		if (hostfiles_write(&files, text, "our-token", "A=b\n", &err))
			fail_msg("%s", err.msg);
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(stat(lib, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0700);
	if (kube_config_load(path, NULL, &read, &err))
		fail_msg("%s", err.msg);
	assert_string_equal(read.server, admin.server);
	assert_string_equal(read.ca_pem, admin.ca_pem);
	assert_string_equal(read.tls_server_name, admin.tls_server_name);
	assert_string_equal(read.proxy_url, admin.proxy_url);
	assert_string_equal(read.namespace_, "kscaled");
	assert_string_equal(read.token, "our-token");
	assert_string_equal(read.token_file, token_file);
	assert_false(read.insecure);
	kube_config_done(&read);
	for (int again = 0; again < 2; again++)
		assert_int_equal(hostfiles_remove(&files, &err), 0);
	assert_int_equal(access(path, F_OK), -1);
	assert_int_equal(access(token_file, F_OK), -1);
	assert_int_equal(access(etc, F_OK), 0);
}

static void unwritable_files(void **state)
{
	struct hostfiles files = { "/proc/none", folder };
	struct err err = { 0 };

	(void)state;
	assert_int_equal(hostfiles_write(&files, "k", "t", "", &err), -1);
	assert_non_null(strstr(err.msg, "/proc/none"));
	assert_null(strstr(err.msg, "token"));
}

static void put(const char *etc, const char *name, const char *text)
{
	MEM_AUTO char *path = mem_printf("%s/%s", etc, name);
	FILE *file = fopen(path, "w");

	assert_non_null(file);
	fputs(text, file);
	fclose(file);
}

static void contents(void **state)
{
	MEM_AUTO char *etc = mem_printf("%s/said", folder), *conf = mem_printf("%s/kscaled.conf", etc),
		      *env = mem_printf("%s/join.env", etc), *call = NULL;
	struct hostfiles files = { etc, folder };

	(void)state;
	assert_int_equal(mkdir(etc, 0700), 0);
	assert_null(hostfiles_call(etc));
	assert_int_equal(hostfiles_joined_port(&files), 0);
	assert_int_equal(hostfiles_configured_port(&files), 0);
	put(etc, "kscaled.conf", "# secure-port = 1\nlog-level = info\n secure-port = 7443\n");
	put(etc, "join.env", "# Made by\n" HOSTFILES_CALL "--kubeconfig=/k --no-webhook\nKSCALED_SECURE_PORT=9443\n");
	call = hostfiles_call(etc);
	assert_string_equal(call, "--kubeconfig=/k --no-webhook");
	assert_int_equal(hostfiles_joined_port(&files), 9443);
	assert_int_equal(hostfiles_configured_port(&files), 7443);
	put(etc, "kscaled.conf", "secure-port = many\n");
	assert_int_equal(hostfiles_configured_port(&files), 0);
	unlink(conf);
	unlink(env);
	rmdir(etc);
}

static int setup(void **state)
{
	(void)state;
	return mkdtemp(folder) ? 0 : -1;
}

static int teardown(void **state)
{
	MEM_AUTO char *command = mem_printf("rm -rf '%s'", folder);

	(void)state;
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(written_files_can_be_read),
		cmocka_unit_test(unwritable_files),
		cmocka_unit_test(contents),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
