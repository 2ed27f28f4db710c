/* SPDX-License-Identifier: Apache-2.0 */
/* kscaled-triggers(5) and its pages name the same parameters as the types' tables. */
#include <glob.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/mem.h"
#include "scalers/params.h"
#include "scalers/scaler.h"

/* Sections about a type besides the one with its name. */
static const struct {
	const char *type, *section;
} shared[] = {
	{ "redis-streams", "redis, redis-cluster, redis-sentinel" },
	{ "redis-cluster-streams", "redis, redis-cluster, redis-sentinel" },
	{ "redis-sentinel-streams", "redis, redis-cluster, redis-sentinel" },
	{ "aws-cloudwatch", "AWS authentication" },
	{ "aws-kinesis-stream", "AWS authentication" },
	{ "aws-sqs-queue", "AWS authentication" },
	{ "kafka", "AWS authentication" },
	{ "apache-kafka", "AWS authentication" },
	{ "prometheus", "AWS authentication" },
	{ "gcp-pubsub", "Google authentication" },
	{ "prometheus", "Google authentication" },
	{ "prometheus", "HTTP authentication" },
	{ "metrics-api", "HTTP authentication" },
	{ "loki", "HTTP authentication" },
	{ "graphite", "HTTP authentication" },
	{ "external-push", "external" },
};

static char *manual; /* all pages, one after the other */

static void append_page(struct buf *all, const char *path)
{
	FILE *file = fopen(path, "r");
	char *page = NULL;
	size_t size = 0;

	if (!file || getdelim(&page, &size, '\0', file) <= 0)
		fail_msg("%s cannot be read", path);
	buf_puts(all, page);
	fclose(file);
	free(page);
}

static int load(void **state)
{
	const char *top = getenv("srcdir");
	MEM_AUTO char *pattern = mem_printf("%s/man/kscaled-triggers*.5", top ? top : ".");
	struct buf all = BUF_INIT((size_t)4 << 20);
	glob_t pages;

	(void)state;
	if (glob(pattern, 0, NULL, &pages) != 0)
		fail_msg("%s: there is no page", pattern);
	for (size_t i = 0; i < pages.gl_pathc; i++)
		append_page(&all, pages.gl_pathv[i]);
	globfree(&pages);
	assert_false(buf_failed(&all));
	manual = mem_dup(buf_text(&all));
	buf_done(&all);
	return 0;
}

static int unload(void **state)
{
	(void)state;
	free(manual);
	return 0;
}

static bool in_list(const char *list, const char *word)
{
	MEM_AUTO char *whole = mem_printf(", %s, ", list), *wanted = mem_printf(", %s, ", word);

	return strstr(whole, wanted) != NULL;
}

static bool speaks_of(const char *section, const char *type)
{
	for (size_t i = 0; i < sizeof(shared) / sizeof(shared[0]); i++)
		if (strcmp(shared[i].type, type) == 0 && strcmp(shared[i].section, section) == 0)
			return true;
	return in_list(section, type);
}

/* The next section that begins with .Ss; the caller owns title and text. False: none. */
static bool next_section(const char **at, char **title, char **text)
{
	const char *begin = strstr(*at, "\n.Ss "), *end, *line, *other;

	if (!begin)
		return false;
	begin += strlen("\n.Ss ");
	line = begin + strcspn(begin, "\n");
	end = strstr(line, "\n.Ss ");
	other = strstr(line, "\n.Sh ");
	if (!end || (other && other < end))
		end = other;
	if (!end)
		end = line + strlen(line);
	*title = mem_dupn(begin, (size_t)(line - begin));
	*text = mem_dupn(line, (size_t)(end - line));
	*at = end;
	return true;
}

static bool has_word(const char *text, const char *word)
{
	static const char between[] = " \n,.()\"";

	for (const char *found = text; (found = strstr(found, word)) != NULL; found++)
		if (found > text && strchr(between, found[-1]) && strchr(between, found[strlen(word)]))
			return true;
	return false;
}

static bool is_told(const char *type, const char *name)
{
	const char *at = manual;
	char *title, *text;
	bool told = false;

	while (!told && next_section(&at, &title, &text)) {
		told = speaks_of(title, type) && has_word(text, name);
		free(title);
		free(text);
	}
	return told;
}

static void every_parameter_is_in_the_manual(void **state)
{
	MEM_AUTO char *copy = mem_dup(scaler_type_names());
	char *rest = copy, *one, name[PARAM_NAME_SIZE];
	bool missing = false;

	(void)state;
	while ((one = strsep(&rest, ", ")) != NULL) {
		const struct scaler_type *type = *one ? scaler_type_find(one) : NULL;

		for (size_t i = 0; type && type->tables[i]; i++) {
			for (size_t k = 0; k < type->tables[i]->count; k++) {
				const struct param_row *row = &type->tables[i]->rows[k];
				const char *spellings = row->names;

				while (row->kind != PARAM_DROPPED && row->kind != PARAM_OTHERS &&
					params_next_name(&spellings, name)) {
					if (is_told(one, name))
						continue;
					print_error("%s: %s is not in the manual\n", one, name);
					missing = true;
				}
				if (!row->help) {
					print_error("%s: %s says nothing of itself\n", one, row->names);
					missing = true;
				}
			}
		}
	}
	assert_false(missing);
}

/* The text of a section, up to the next; the caller owns it. */
static char *section_of(const char *heading, const char *next)
{
	const char *begin = strstr(manual, heading), *end = begin ? strstr(begin + 1, next) : NULL;

	assert_non_null(end);
	return mem_dupn(begin, (size_t)(end - begin));
}

/* kscaled-triggers(5) names the page of each type, and what it sends without TLS. */
static void every_type_is_listed(void **state)
{
	MEM_AUTO char *pages = section_of("\n.Sh TRIGGERS\n.Bl ", "\n.Sh "), *copy = mem_dup(scaler_type_names());
	MEM_AUTO char *plain = section_of("\n.Ss Plain text\n", "\n.S");
	char *rest = copy, *one;
	bool missing = false;

	(void)state;
	while ((one = strsep(&rest, ", ")) != NULL) {
		/* "redis and all types that begin so" */
		const char *type = strncmp(one, "redis-", 6) == 0 ? "redis" : one;

		if (!*one || (has_word(pages, one) && has_word(plain, type)))
			continue;
		print_error("%s is not in each list of types of kscaled-triggers(5)\n", one);
		missing = true;
	}
	assert_false(missing);
}

/* Whether a type of the section has this parameter. */
static bool is_declared(const char *section, const char *wanted)
{
	MEM_AUTO char *copy = mem_dup(scaler_type_names());
	char *rest = copy, *one, name[PARAM_NAME_SIZE];

	while ((one = strsep(&rest, ", ")) != NULL) {
		const struct scaler_type *type = *one && speaks_of(section, one) ? scaler_type_find(one) : NULL;

		for (size_t i = 0; type && type->tables[i]; i++) {
			for (size_t k = 0; k < type->tables[i]->count; k++) {
				const char *spellings = type->tables[i]->rows[k].names;

				while (params_next_name(&spellings, name))
					if (strcmp(name, wanted) == 0)
						return true;
			}
		}
	}
	return false;
}

static bool is_of_types(const char *section)
{
	MEM_AUTO char *copy = mem_dup(scaler_type_names());
	char *rest = copy, *one;

	while ((one = strsep(&rest, ", ")) != NULL)
		if (*one && speaks_of(section, one))
			return true;
	return false;
}

/* Checks the parameters in `.It Cm a , b No or Cm c`. */
static bool check_item(const char *section, char *line)
{
	bool good = true;
	char *word;

	while ((word = strsep(&line, " ")) != NULL) {
		if (!*word || strcmp(word, ",") == 0 || strcmp(word, "Cm") == 0 || strcmp(word, "No") == 0 ||
			strcmp(word, "or") == 0 || strcmp(word, "and") == 0 || strcmp(word, "without") == 0)
			continue;
		if (is_declared(section, word))
			continue;
		print_error("%s: the manual speaks of %s, which is no parameter\n", section, word);
		good = false;
	}
	return good;
}

static void everything_in_the_manual_is_a_parameter(void **state)
{
	const char *at = manual;
	char *title, *text, *rest, *line;
	size_t items = 0;
	bool good = true;

	(void)state;
	while (next_section(&at, &title, &text)) {
		for (rest = is_of_types(title) ? text : NULL; (line = strsep(&rest, "\n")) != NULL;) {
			if (strncmp(line, ".It Cm ", 7) != 0)
				continue;
			items++;
			good &= check_item(title, line + 7);
		}
		free(title);
		free(text);
	}
	assert_true(good);
	assert_true(items > 60);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_type_is_listed),
		cmocka_unit_test(every_parameter_is_in_the_manual),
		cmocka_unit_test(everything_in_the_manual_is_a_parameter),
	};

	return cmocka_run_group_tests(tests, load, unload);
}
