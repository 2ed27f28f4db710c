/* SPDX-License-Identifier: Apache-2.0 */
#include "control/access/accesskeeper.h"

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

#include "../fake_kube.h"
#include "base/base64.h"
#include "base/buf.h"
#include "base/file.h"
#include "base/log.h"
#include "base/mem.h"
#include "net/filewatch.h"

#define TOKENS  "/api/v1/namespaces/kscaled/serviceaccounts/it/token"
#define HOUR_MS INT64_C(3600000)
#define DAY_MS  (24 * HOUR_MS)

/* ---- In place of net/filewatch, which needs the real loop ---- */

static loop_fn on_change;
static void *on_change_arg;

struct filewatch *filewatch_new(struct loop *loop, loop_fn fn, void *arg)
{
	(void)loop;
	on_change = fn;
	on_change_arg = arg;
	return (struct filewatch *)&on_change;
}

void filewatch_free(struct filewatch *f)
{
	(void)f;
}

bool filewatch_add(struct filewatch *f, const char *path)
{
	(void)f;
	(void)path;
	return true;
}

/* ---- A host ---- */

static char folder[] = "/tmp/test_accesskeeper.XXXXXX";
static struct kube_config config;
static char *state_dir;
static struct counters *counters;
static struct accesskeeper *keeper;
static int64_t serving_until_ms;

static char *in(const char *name)
{
	return mem_printf("%s/%s", folder, name);
}

static void put(const char *name, const char *text)
{
	MEM_AUTO char *path = in(name);
	struct err err;

	if (file_replace(path, text, strlen(text), &err))
		fail_msg("%s: %s", path, err.msg);
}

static char *text_of(const char *name)
{
	MEM_AUTO char *path = in(name);
	struct buf text = BUF_INIT(65536);
	struct err err;

	assert_int_equal(file_read(path, FILE_REGULAR, NULL, &text, &err), 0);
	return buf_take(&text);
}

/* Of an account, issued now. */
static char *token_for(const char *subject, int64_t life_ms)
{
	MEM_AUTO char *claims = mem_printf("{\"sub\":\"%s\",\"iat\":%lld,\"exp\":%lld}", subject,
		(long long)(fake_wall_ms() / 1000), (long long)((fake_wall_ms() + life_ms) / 1000));
	char *text = base64_encode(claims, strlen(claims)), *token;

	text[strcspn(text, "=")] = '\0';
	token = mem_printf("e30.%s.c2ln", text);
	free(text);
	return token;
}

static char *our_token(int64_t life_ms)
{
	return token_for("system:serviceaccount:kscaled:it", life_ms);
}

static void server_gives(const char *token)
{
	MEM_AUTO char *text = mem_printf("{\"status\":{\"token\":\"%s\"}}", token);

	fake_put(TOKENS, text);
}

static int64_t serving_until(void *arg)
{
	(void)arg;
	return serving_until_ms;
}

static void begin(const char *token_file, const char *token, bool renew)
{
	MEM_AUTO char *kubeconfig = in("config"), *path = in(token_file);
	MEM_AUTO char *text = mem_printf("apiVersion: v1\nkind: Config\ncurrent-context: it\n"
					 "clusters: [{name: it, cluster: {server: 'https://10.0.0.1'}}]\n"
					 "users: [{name: it, user: {tokenFile: '%s'}}]\n"
					 "contexts: [{name: it, context: {cluster: it, user: it}}]\n",
		path);
	struct accesskeeper_config c = { .access = &config, .renew = renew, .serving_until = serving_until };
	struct err err;

	put(token_file, token);
	put("config", text);
	if (kube_config_load(kubeconfig, NULL, &config, &err))
		fail_msg("%s", err.msg);
	fake_keep_current(&config);
	c.state_dir = state_dir = in("state");
	counters = counters_new();
	keeper = accesskeeper_new(fake_kube(), counters, &c);
}

static void end(void)
{
	accesskeeper_free(keeper);
	free(state_dir);
	kube_config_done(&config);
	counters_free(counters);
}

static double shown(const char *credential)
{
	static const char *const names[] = { "credential", NULL };
	const char *labels[] = { credential };

	return counters_get(counters_declare(counters, COUNTERS_GAUGE, "kscaled_credentials_expiry_timestamp_seconds",
				    "", names),
		labels);
}

/* ---- Cases ---- */

static void renewed_at_half_of_its_life(void **state)
{
	MEM_AUTO char *old = our_token(DAY_MS), *new = NULL, *found = NULL, *path = in("state/token");
	struct stat st;

	(void)state;
	begin("state/token", old, true);
	assert_string_equal(accesskeeper_token_file(keeper), path);
	fake_advance(11 * HOUR_MS);
	assert_int_equal(fake_count(FAKE_ANY, TOKENS), 0);
	assert_true(shown("token") > 0);
	new = our_token(30 * DAY_MS);
	server_gives(new);
	fake_advance(HOUR_MS + 60000);
	assert_int_equal(fake_count(KUBE_REVIEW, TOKENS), 1);
	found = text_of("state/token");
	assert_string_equal(found, new);
	assert_string_equal(config.token, new); /* in use */
	assert_int_equal(stat(path, &st), 0);
	assert_int_equal(st.st_mode & 07777, 0600);
	assert_int_equal(fake_logged("renewed, good until"), 1);
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, ""), 0);
	fake_advance(13 * DAY_MS);
	assert_int_equal(fake_count(FAKE_ANY, TOKENS), 1);
	end();
}

static void a_short_one_at_once_and_not_again_and_again(void **state)
{
	MEM_AUTO char *old = our_token(600000), *new = our_token(600000);

	(void)state;
	server_gives(new);
	begin("state/token", old, true);
	fake_advance(1000);
	assert_int_equal(fake_count(FAKE_ANY, TOKENS), 1);
	fake_advance(60000);
	assert_int_equal(fake_count(FAKE_ANY, TOKENS), 1);
	end();
}

/* A token of the server, by whose clock ours is ahead (or behind) from the start on. */
static void by_a_clock_that_is_wrong(int64_t ahead_ms, int64_t life_ms, int64_t watched_ms, unsigned calls_max)
{
	MEM_AUTO char *old = our_token(life_ms), *new = NULL;
	unsigned before;

	fake_set_wall_ahead(0);
	new = our_token(life_ms);
	server_gives(new);
	fake_set_wall_ahead(ahead_ms);
	begin("state/token", old, true);
	before = fake_count(FAKE_ANY, TOKENS);
	for (int64_t at = 0; at < watched_ms; at += 1000) {
		fake_advance(1000);
		on_change(on_change_arg); /* its own write among others */
	}
	if (fake_count(FAKE_ANY, TOKENS) - before > calls_max || fake_count(FAKE_ANY, TOKENS) == before)
		fail_msg("%lld ms ahead: %u calls", (long long)ahead_ms, fake_count(FAKE_ANY, TOKENS) - before);
	end();
	fake_set_wall_ahead(0);
}

static void no_clock_makes_it_renew_without_a_pause(void **state)
{
	(void)state;
	by_a_clock_that_is_wrong(HOUR_MS, 600000, HOUR_MS / 2, 10);
	by_a_clock_that_is_wrong(400 * DAY_MS, 30 * DAY_MS, HOUR_MS, 1);
	by_a_clock_that_is_wrong(-HOUR_MS, 30 * DAY_MS, HOUR_MS, 1); /* its age is unknown */
	by_a_clock_that_is_wrong(-400 * DAY_MS, 600000, HOUR_MS / 2, 10);
}

static void a_clock_that_is_set_behind_does_not_let_it_end(void **state)
{
	MEM_AUTO char *old = our_token(DAY_MS);

	(void)state;
	begin("state/token", old, true);
	fake_advance(1000);
	server_gives(old);
	fake_set_wall_ahead(-2 * DAY_MS);
	fake_advance(DAY_MS / 2);
	assert_int_equal(fake_count(FAKE_ANY, TOKENS), 2); /* at once, and a third of a life later */
	fake_set_wall_ahead(0);
	end();
}

static void those_of_others_are_left_alone(void **state)
{
	static const struct {
		const char *file, *subject;
		bool renew;
	} rows[] = {
		{ "state/token", "system:serviceaccount:kscaled:it", false },
		{ "elsewhere/token", "system:serviceaccount:kscaled:it", true },
		{ "state-like/token", "system:serviceaccount:kscaled:it", true },
		{ "state/token", "somebody", true },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		MEM_AUTO char *token = token_for(rows[i].subject, 600000);

		begin(rows[i].file, token, rows[i].renew);
		assert_null(accesskeeper_token_file(keeper));
		fake_advance(480000); /* then the kubelet renews its own */
		assert_int_equal(fake_count(FAKE_ANY, TOKENS), 0);
		assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, ""), (unsigned)i);
		fake_advance(90000);
		assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "the owner of its file should have renewed it"),
			(unsigned)i + 1);
		end();
	}
}

static void failures_are_reported_once_and_retried(void **state)
{
	MEM_AUTO char *old = our_token(HOUR_MS), *new = NULL, *found = NULL;

	(void)state;
	begin("state/token", old, true);
	fake_fail(FAKE_REFUSE, KUBE_REVIEW, TOKENS, FAKE_ANY, 403);
	fake_advance(HOUR_MS / 2 + 120000);
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN,
				 "renewing the token of ServiceAccount kscaled/it (create on serviceaccounts/token)"),
		1);
	assert_true(fake_count(FAKE_ANY, TOKENS) > 2 && fake_count(FAKE_ANY, TOKENS) < 12);
	fake_advance(HOUR_MS / 4);
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "the token for the API server ends at"), 1);
	new = our_token(DAY_MS);
	server_gives(new);
	fake_heal();
	fake_advance(400000);
	found = text_of("state/token");
	assert_string_equal(found, new);
	end();
}

static void changed_files_are_read_at_once(void **state)
{
	MEM_AUTO char *old = token_for("somebody", DAY_MS), *new = token_for("somebody else", DAY_MS);

	(void)state;
	begin("elsewhere/token", old, true);
	fake_advance(1000);
	put("elsewhere/token", new);
	on_change(on_change_arg);
	assert_string_equal(config.token, new);
	assert_int_equal(fake_logged("read again"), 1);
	put("config", "{");
	on_change(on_change_arg);
	on_change(on_change_arg);
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "the old ones stay in use"), 1);
	assert_string_equal(config.token, new);
	accesskeeper_reload(keeper); /* the answer to a reload */
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "the old ones stay in use"), 2);
	end();
}

static void a_certificate_near_its_end(void **state)
{
	MEM_AUTO char *token = token_for("somebody", 0);

	(void)state;
	serving_until_ms = fake_wall_ms() + 31 * DAY_MS;
	begin("elsewhere/token", token, true);
	fake_advance(DAY_MS / 2);
	assert_true(shown("serving-certificate") == (double)serving_until_ms / 1000);
	assert_true(shown("client-certificate") == 0);
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "the serving certificate ends at"), 0);
	fake_advance(DAY_MS);
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "the serving certificate ends at"), 1);
	fake_advance(DAY_MS); /* once a day */
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "the serving certificate ends at"), 2);
	serving_until_ms = fake_wall_ms() - 1000;
	fake_advance(DAY_MS);
	assert_int_equal(fake_logged_at(LOG_LEVEL_WARN, "the serving certificate ended at"), 1);
	serving_until_ms = 0;
	end();
}

static int setup(void **state)
{
	(void)state;
	fake_start();
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	fake_end();
	return 0;
}

static int make_folders(void **state)
{
	static const char *const names[] = { "state", "state-like", "elsewhere" };

	(void)state;
	if (!mkdtemp(folder))
		return -1;
	for (size_t i = 0; i < MEM_COUNT(names); i++) {
		MEM_AUTO char *path = in(names[i]);

		if (mkdir(path, 0700))
			return -1;
	}
	return 0;
}

static int remove_folders(void **state)
{
	MEM_AUTO char *command = mem_printf("rm -rf '%s'", folder);

	(void)state;
	return system(command);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(renewed_at_half_of_its_life, setup, teardown),
		cmocka_unit_test_setup_teardown(a_short_one_at_once_and_not_again_and_again, setup, teardown),
		cmocka_unit_test_setup_teardown(no_clock_makes_it_renew_without_a_pause, setup, teardown),
		cmocka_unit_test_setup_teardown(a_clock_that_is_set_behind_does_not_let_it_end, setup, teardown),
		cmocka_unit_test_setup_teardown(those_of_others_are_left_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(failures_are_reported_once_and_retried, setup, teardown),
		cmocka_unit_test_setup_teardown(changed_files_are_read_at_once, setup, teardown),
		cmocka_unit_test_setup_teardown(a_certificate_near_its_end, setup, teardown),
	};

	return cmocka_run_group_tests(tests, make_folders, remove_folders);
}
