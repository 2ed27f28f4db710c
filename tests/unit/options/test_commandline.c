/* SPDX-License-Identifier: Apache-2.0 */
#include "options/commandline.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"

struct arguments {
	const char *text, *label, *word;
	bool strict, all, on, only;
	uint16_t port;
	int64_t wait_ms;
};

static const char *const words[] = { "json", "wide", "name", NULL };

static const struct option label_option[] = {
	{ "label", OPTION_LABEL, 0, "NS", .help = "a label", .initial = "kscaled" },
	{ .name = NULL },
};

static const struct option some[] = {
#define AT(member) .offset = offsetof(struct arguments, member)
	{ "text", OPTION_TEXT, AT(text), "TEXT", "a text", .letter = 't' },
	{ "word", OPTION_WORD, AT(word), "FORMAT", "a word", .letter = 'o', .words = words },
	{ "strict", OPTION_SWITCH, AT(strict), NULL, "a switch", .letter = 's' },
	{ "all-of-them", OPTION_SWITCH, AT(all), NULL,
		"another one, whose help is so long that it does not fit into a single line", .letter = 'A' },
	{ "only", OPTION_SWITCH, AT(only), NULL, "its name begins with the next one's" },
	{ "on", OPTION_BOOL, AT(on), "BOOL", "true or false" },
	{ "port", OPTION_PORT, AT(port), "PORT", "a port", .least = 1 },
	{ "wait", OPTION_DURATION, AT(wait_ms), "DURATION", "a time", .initial = "60s", .most = 3600000 },
	{ .name = NULL },
#undef AT
};

static const struct commandline line = {
	.name = "test",
	.usage = "[OPTION]... [FILE]...",
	.text = "Test.",
	.end = "The end.",
	.tables = { { .options = some },
		{ .options = label_option, .base = offsetof(struct arguments, label), .heading = "More:" } },
	.removed = "old-one was removed: use --text",
	.operands = true,
};

/* Values as text, and operands. The error, or "". */
static char *read_all(const struct commandline *l, const char *const *args, char **operands)
{
	char *argv[8] = { NULL };
	struct commandline_given given;
	struct err err = { 0 };
	struct arguments a = { .text = NULL };
	struct option o;
	int argc = 0;
	char *said = NULL;

	for (; args[argc]; argc++)
		argv[argc] = (char *)(uintptr_t)args[argc];
	if (commandline_parse(l, argc, argv, &given, &err) < 0)
		return mem_dup(err.msg);
	if (given.end)
		return mem_printf("end %s", given.end);
	for (size_t i = 0; commandline_option(l, i, &o); i++)
		if (given.value[i] && commandline_set(&o, given.value[i], &a, &err) < 0)
			return mem_printf("--%s: %s", o.name, err.msg);
	said = mem_printf("%s %s %s %d %d %d %d %lld", a.text ? a.text : "-", a.label ? a.label : "-",
		a.word ? a.word : "-", a.strict, a.all, a.on, a.port, (long long)a.wait_ms);
	if (operands && given.operands > 0)
		*operands = mem_printf("%d %s", given.operands, argv[given.operands - 1]);
	return said;
}

static void forms(void **state)
{
	static const struct {
		const char *args[6], *said, *operands;
	} rows[] = {
		{ { NULL }, "- - - 0 0 0 0 0", NULL },
		{ { "--text=a=b", "--label", "x", "--port=1" }, "a=b x - 0 0 0 1 0", NULL },
		{ { "--text=", "--wait", "90s" }, " - - 0 0 0 0 90000", NULL },
		{ { "-t", "a", "-ojson", "-sA" }, "a - json 1 1 0 0 0", NULL },
		{ { "-sta" }, "a - - 1 0 0 0 0", NULL },
		{ { "-As", "f", "-t", "-" }, "- - - 1 1 0 0 0", "1 f" },
		{ { "one", "--strict", "two", "-" }, "- - - 1 0 0 0 0", "3 -" },
		{ { "--", "--strict", "-A", "--help" }, "- - - 0 0 0 0 0", "3 --help" },
		{ { "--text", "a", "--text", "b" }, "b - - 0 0 0 0 0", NULL },
		{ { "--on", "--strict" }, "- - - 1 0 1 0 0", NULL },
		{ { "--on", "false", "--on=true" }, "- - - 0 0 1 0 0", NULL },
		{ { "--text", "--strict" }, "--strict - - 0 0 0 0 0", NULL },
		{ { "--strict", "--help", "--nonsense" }, "end help", NULL },
		{ { "-sh" }, "end help", NULL },
		{ { "--text", "--help" }, "--help - - 0 0 0 0 0", NULL },
		{ { "one", "--str", "--te", "a", "--la=x" }, "a x - 1 0 0 0 0", "1 one" },
		{ { "--h" }, "end help", NULL },
		{ { "--on=false", "--only" }, "- - - 0 0 0 0 0", NULL },
	};

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		MEM_AUTO char *operands = NULL, *said = read_all(&line, rows[i].args, &operands);

		assert_string_equal(said, rows[i].said);
		assert_int_equal(operands != NULL, rows[i].operands != NULL);
		if (operands)
			assert_string_equal(operands, rows[i].operands);
	}
}

static void wrong_usage(void **state)
{
	static const struct {
		const char *arg, *said;
	} rows[] = {
		{ "--nonsense", "unknown option --nonsense" },
		{ "--txt=1", "unknown option --txt; perhaps --text" },
		{ "--o", "--o is ambiguous: --only, --on" },
		{ "--=x", "unknown option --" },
		{ "--al=1", "flag --all-of-them takes no value" },
		{ "--old-one=1", "--old-one was removed: use --text" },
		{ "-x", "unknown option -x" },
		{ "-sx", "unknown option -x" },
		{ "-t", "flag --text needs a value: --text TEXT" },
		{ "--text", "flag --text needs a value: --text TEXT" },
		{ "--strict=1", "flag --strict takes no value" },
		{ "--help=1", "flag --help takes no value" },
		{ "--word=xml", "--word: \"xml\" is not json, wide or name" },
		{ "--label=A", "--label: \"A\" is not a Kubernetes name: lower-case letters, digits and -" },
		{ "--label=", "--label: \"\" is not a Kubernetes name: lower-case letters, digits and -" },
		{ "--port=0", "--port: \"0\" is not a port: 1 to 65535" },
		{ "--on=x", "--on: \"x\" is neither true nor false" },
		{ "--wait=1h1s", "--wait: \"1h1s\" is out of range: 0s to 1h" },
	};
	static const struct commandline none = { .name = "none", .usage = "" };
	MEM_AUTO char *more = read_all(&none, (const char *[]){ "more", NULL }, NULL);

	(void)state;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		MEM_AUTO char *said = read_all(&line, (const char *[]){ rows[i].arg, NULL }, NULL);

		assert_string_equal(said, rows[i].said);
	}
	assert_string_equal(more, "unexpected argument \"more\": only options are allowed");
}

/* Returns the number of operands, and checks what was stored. */
static int run(void *arguments, char **operands, int count, struct err *err)
{
	const struct arguments *a = arguments;

	assert_string_equal(a->text, "kept");
	assert_string_equal(a->label, "kscaled");
	assert_true(a->wait_ms == 60000);
	assert_string_equal(operands[count - 1], "end");
	err_set(err, ERR_INVALID, "printed because the status is not 0");
	return count;
}

static void runs(void **state)
{
	static const struct {
		const char *args[4];
		int status;
	} rows[] = { { { "test", "end" }, 1 }, { { "test", "more", "--strict", "end" }, 2 },
		{ { "test", "--nonsense" }, COMMANDLINE_WRONG }, { { "test", "--port=x" }, COMMANDLINE_WRONG } };
	struct commandline command = line;

	(void)state;
	command.size = sizeof(struct arguments);
	command.begin = &(struct arguments){ .text = "kept" };
	command.run = run;
	for (size_t i = 0; i < MEM_COUNT(rows); i++) {
		char *argv[5] = { NULL };
		int argc = 0;

		for (; argc < 4 && rows[i].args[argc]; argc++)
			argv[argc] = (char *)(uintptr_t)rows[i].args[argc];
		assert_int_equal(commandline_run(&command, argc, argv), rows[i].status);
	}
}

static void help(void **state)
{
	char *text = NULL;
	size_t size;
	FILE *out = open_memstream(&text, &size);

	(void)state;
	commandline_print_help(&line, out);
	fclose(out);
	assert_string_equal(text,
		"usage: kscaled test [OPTION]... [FILE]...\n"
		"Test.\n"
		"\n"
		"  -t, --text TEXT              a text\n"
		"  -o, --word FORMAT            a word\n"
		"  -s, --strict                 a switch\n"
		"  -A, --all-of-them            another one, whose help is so long that it does not fit into a single\n"
		"                               line\n"
		"      --only                   its name begins with the next one's\n"
		"      --on BOOL                true or false\n"
		"      --port PORT              a port\n"
		"      --wait DURATION          a time; default 60s\n"
		"\n"
		"More:\n"
		"      --label NS               a label; default kscaled\n"
		"  -h, --help                   print this text\n"
		"\n"
		"The end.\n");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms),
		cmocka_unit_test(wrong_usage),
		cmocka_unit_test(runs),
		cmocka_unit_test(help),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
