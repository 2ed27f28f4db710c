/* SPDX-License-Identifier: Apache-2.0 */
#include "options/commandline.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "base/buf.h"
#include "base/dnsname.h"
#include "base/duration.h"
#include "base/editdist.h"
#include "base/hostport.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/text.h"

/* ---- The tables ---- */

static const struct option help_option = { "help", OPTION_END, .help = "print this text", .letter = 'h' };

bool commandline_option(const struct commandline *line, size_t i, struct option *out)
{
	for (size_t t = 0; t < MEM_COUNT(line->tables) && line->tables[t].options; t++) {
		for (const struct option *o = line->tables[t].options; o->name; o++) {
			if (i-- > 0)
				continue;
			*out = *o;
			out->offset += line->tables[t].base;
			return true;
		}
	}
	*out = help_option;
	return i == 0 && line->usage;
}

const char *const *commandline_words(const struct option *option)
{
	static const char *const bools[] = { "true", "false", NULL };

	switch (option->kind) {
	case OPTION_BOOL: return bools;
	case OPTION_LEVEL: return log_level_names;
	case OPTION_FORMAT: return log_format_names;
	default: return option->words;
	}
}

const char *commandline_variable(const struct option *option, char out[COMMANDLINE_VARIABLE])
{
	snprintf(out, COMMANDLINE_VARIABLE, "KSCALED_%s", option->name);
	for (char *c = out; *c; c++)
		*c = *c == '-' ? '_' : (char)toupper((unsigned char)*c);
	return out;
}

/* ---- Values ---- */

/* As Go's ParseBool, and so KEDA's flags. */
static int read_bool(const char *text, bool *out, struct err *err)
{
	static const char *const yes[] = { "1", "t", "T", "true", "TRUE", "True", NULL };
	static const char *const no[] = { "0", "f", "F", "false", "FALSE", "False", NULL };

	*out = text_is_one_of(text, yes);
	if (*out || text_is_one_of(text, no))
		return 0;
	return err_set(err, ERR_INVALID, "\"%.64s\" is neither true nor false", text);
}

static int read_port(const struct option *option, const char *text, uint16_t *out, struct err *err)
{
	int port = hostport_port(text);

	if (port < option->least)
		return err_set(err, ERR_INVALID, "\"%.64s\" is not a port: %d to 65535", text, (int)option->least);
	*out = (uint16_t)port;
	return 0;
}

static int read_count(const struct option *option, const char *text, int64_t *out, struct err *err)
{
	size_t len = strlen(text);
	long long count = len > 0 && len <= 9 && text[strspn(text, "0123456789")] == '\0' ? atoll(text) : -1;

	if (count < option->least || count > option->most)
		return err_set(err, ERR_INVALID, "\"%.64s\" is not a number from %lld to %lld", text,
			(long long)option->least, (long long)option->most);
	*out = count;
	return 0;
}

static int read_duration(const struct option *option, const char *text, int64_t *out, struct err *err)
{
	char least[DURATION_TEXT_MAX], most[DURATION_TEXT_MAX];
	int64_t ms;

	if (duration_parse(text, &ms, err) < 0)
		return -1;
	if (ms < option->least || ms > option->most)
		return err_set(err, ERR_INVALID, "\"%.64s\" is out of range: %s to %s", text,
			duration_format(option->least, least), duration_format(option->most, most));
	*out = ms;
	return 0;
}

/* Like KEDA_HTTP_DEFAULT_TIMEOUT: "3000" is "3000ms". */
static int read_milliseconds(const struct option *option, const char *text, int64_t *out, struct err *err)
{
	bool bare = text[0] != '\0' && text[strspn(text, "0123456789")] == '\0';
	MEM_AUTO char *with_unit = bare ? mem_printf("%sms", text) : NULL;

	return read_duration(option, with_unit ? with_unit : text, out, err);
}

static int check_word(const struct option *option, const char *text, struct err *err)
{
	struct buf list = BUF_INIT(256);
	const char *const *words = option->words;

	if (text_is_one_of(text, words))
		return 0;
	for (; *words; words++)
		buf_printf(&list, "%s%s", words == option->words ? "" : words[1] ? ", " : " or ", *words);
	err_set(err, ERR_INVALID, "\"%.80s\" is not %s", text, buf_text(&list));
	buf_done(&list);
	return -1;
}

int commandline_check(const struct option *option, const char *text, struct err *err)
{
	bool subdomain = option->kind == OPTION_SUBDOMAIN;
	unsigned char address[16];
	struct hostport at;

	switch (option->kind) {
	case OPTION_WORD: return check_word(option, text, err);
	case OPTION_ABSOLUTE:
		return *text == '/' ? 0 : err_set(err, ERR_INVALID, "\"%.64s\" is not an absolute path", text);
	case OPTION_HOST_PORT: return hostport_parse_listen(text, &at, err);
	case OPTION_ADDRESS:
		if (!*text || inet_pton(AF_INET, text, address) == 1 || inet_pton(AF_INET6, text, address) == 1)
			return 0;
		return err_set(err, ERR_INVALID, "\"%.64s\" is not an IP address", text);
	case OPTION_LABEL:
	case OPTION_OPTIONAL_LABEL:
	case OPTION_SUBDOMAIN:
		if ((subdomain ? dnsname_is_subdomain : dnsname_is_label)(text, strlen(text)) ||
			(option->kind == OPTION_OPTIONAL_LABEL && !*text))
			return 0;
		return err_set(err, ERR_INVALID,
			"\"%.64s\" is not a Kubernetes name: lower-case letters, digits and -%s", text,
			subdomain ? " and ." : "");
	default: return 0;
	}
}

int commandline_set(const struct option *option, const char *text, void *base, struct err *err)
{
	void *member = (char *)base + option->offset;

	switch (option->kind) {
	case OPTION_BOOL:
	case OPTION_SWITCH: return read_bool(text, member, err);
	case OPTION_PORT: return read_port(option, text, member, err);
	case OPTION_COUNT: return read_count(option, text, member, err);
	case OPTION_DURATION: return read_duration(option, text, member, err);
	case OPTION_MILLISECONDS: return read_milliseconds(option, text, member, err);
	case OPTION_LEVEL: return log_level_parse(text, member, err);
	case OPTION_FORMAT: return log_format_parse(text, member, err);
	case OPTION_END: return 0;
	default:
		if (commandline_check(option, text, err) < 0)
			return -1;
		*(const char **)member = text;
		return 0;
	}
}

/* ---- Parsing ---- */

int commandline_unknown(const struct commandline *line, const char *name, const char *dashes, struct err *err)
{
	const char *removed = line->removed ? text_behind(line->removed, name) : NULL, *nearest = NULL;
	size_t best = strlen(name) / 3 + 2; /* from here on a different word */
	struct option o;

	if (removed && *removed == ' ')
		return err_set(err, ERR_INVALID, "%s%s", dashes, line->removed);
	for (size_t i = 0; commandline_option(line, i, &o) && o.kind != OPTION_END; i++) {
		size_t distance = editdist_between(name, o.name);

		if (distance >= best)
			continue;
		best = distance;
		nearest = o.name;
	}
	return err_set(err, ERR_INVALID, "unknown option %s%.64s%s%s%s", dashes, name, nearest ? "; perhaps " : "",
		nearest ? dashes : "", nearest ? nearest : "");
}

struct parser {
	const struct commandline *line;
	int argc, next; /* of argv */
	char **argv;
	struct commandline_given *given;
};

/* at: the option's number. value: joined to it, or NULL. */
static int take_value(struct parser *p, const struct option *o, int at, const char *value, struct err *err)
{
	bool follows = p->next < p->argc;

	if (value && !o->argument)
		return err_set(err, ERR_INVALID, "flag --%s takes no value", o->name);
	if (!value && (!o->argument || (o->kind == OPTION_BOOL && (!follows || p->argv[p->next][0] == '-'))))
		value = "true";
	else if (!value && follows)
		value = p->argv[p->next++];
	if (!value)
		return err_set(err, ERR_INVALID, "flag --%s needs a value: --%s %s", o->name, o->name, o->argument);
	p->given->value[at] = value;
	if (o->kind == OPTION_END)
		p->given->end = o->name;
	return 0;
}

/* Its number; as for getopt_long, a unique abbreviation suffices. -1: unknown, or ambiguous. */
static int find_name(const struct commandline *line, const char *name, struct option *out, struct err *err)
{
	struct buf names = BUF_INIT(SIZE_MAX);
	bool exact = false;
	int found = 0, at = -1;
	struct option o;

	for (int i = 0; !exact && commandline_option(line, (size_t)i, &o); i++) {
		exact = strcmp(o.name, name) == 0;
		if (!exact && (line->variables || !*name || !text_begins(o.name, name)))
			continue;
		found = exact ? 1 : found + 1;
		buf_printf(&names, "%s--%s", found > 1 ? ", " : "", o.name);
		*out = o;
		at = i;
	}
	if (found == 0)
		at = commandline_unknown(line, name, "--", err);
	else if (found > 1)
		at = err_set(err, ERR_INVALID, "--%s is ambiguous: %s", name, buf_text(&names));
	buf_done(&names);
	return at;
}

static int take_name(struct parser *p, const char *text, struct err *err)
{
	size_t len = strcspn(text, "=");
	MEM_AUTO char *name = mem_dupn(text, len);
	struct option o;
	int at = find_name(p->line, name, &o, err);

	return at < 0 ? -1 : take_value(p, &o, at, text[len] ? text + len + 1 : NULL, err);
}

static int find_letter(const struct commandline *line, char letter, struct option *out)
{
	for (int i = 0; commandline_option(line, (size_t)i, out); i++)
		if (out->letter == letter)
			return i;
	return -1;
}

static int take_letters(struct parser *p, const char *letters, struct err *err)
{
	struct option o;

	for (; *letters; letters++) {
		int at = find_letter(p->line, *letters, &o);
		const char *value = letters[1] && o.argument ? letters + 1 : NULL;

		if (at < 0)
			return err_set(err, ERR_INVALID, "unknown option -%c", *letters);
		if (take_value(p, &o, at, value, err) < 0)
			return -1;
		if (value)
			return 0;
	}
	return 0;
}

static int take_argument(struct parser *p, bool *only_operands, struct err *err)
{
	char *argument = p->argv[p->next++];

	if (!*only_operands && text_begins(argument, "--") && argument[2])
		return take_name(p, argument + 2, err);
	if (p->line->variables)
		return err_set(err, ERR_INVALID, "\"%.64s\" is not a flag: flags begin with --", argument);
	if (!*only_operands && strcmp(argument, "--") == 0) {
		*only_operands = true;
		return 0;
	}
	if (!*only_operands && argument[0] == '-' && argument[1])
		return take_letters(p, argument + 1, err);
	if (!p->line->operands)
		return err_set(err, ERR_INVALID, "unexpected argument \"%.80s\": only options are allowed", argument);
	p->argv[p->given->operands++] = argument;
	return 0;
}

int commandline_parse(const struct commandline *line, int argc, char **argv, struct commandline_given *out,
	struct err *err)
{
	struct parser p = { .line = line, .argc = argc, .argv = argv, .given = out };
	bool only_operands = false;

	*out = (struct commandline_given){ .end = NULL };
	while (!out->end && p.next < argc)
		if (take_argument(&p, &only_operands, err) < 0)
			return -1;
	return 0;
}

static int set_all(const struct commandline *line, const struct commandline_given *given, void *out, struct err *err)
{
	struct option o;

	for (size_t i = 0; commandline_option(line, i, &o); i++) {
		const char *value = given->value[i] ? given->value[i] : o.initial;

		if (value && commandline_set(&o, value, out, err) < 0)
			return err_wrap(err, "--%s", o.name);
	}
	return 0;
}

/* ---- --help ---- */

#define COLUMN 31 /* where the help of an option begins */
#define WIDTH  100

static void put_wrapped(FILE *out, const char *text)
{
	for (int at = COLUMN; *text; text += strspn(text, " ")) {
		int len = (int)strcspn(text, " ");

		if (at > COLUMN && at + 1 + len > WIDTH) {
			fprintf(out, "\n%*s", COLUMN, "");
			at = COLUMN;
		}
		at += fprintf(out, "%s%.*s", at > COLUMN ? " " : "", len, text);
		text += len;
	}
	putc('\n', out);
}

static void put_option(const struct commandline *line, const struct option *o, FILE *out)
{
	struct buf help = BUF_INIT(SIZE_MAX);
	char variable[COMMANDLINE_VARIABLE];
	int at = fprintf(out, o->letter ? "  -%c, --%s" : "   %c  --%s", o->letter ? o->letter : ' ', o->name);

	if (o->argument)
		at += fprintf(out, " %s", o->argument);
	if (at + 2 > COLUMN) {
		putc('\n', out);
		at = 0;
	}
	fprintf(out, "%*s", COLUMN - at, "");
	buf_puts(&help, o->help);
	if (line->variables && o->kind != OPTION_END)
		buf_printf(&help, "; environment %s%s%s", commandline_variable(o, variable), o->env_also ? " or " : "",
			o->env_also ? o->env_also : "");
	if (o->initial)
		buf_printf(&help, "; default %s", o->initial);
	put_wrapped(out, buf_text(&help));
	buf_done(&help);
}

void commandline_print_options(const struct commandline *line, FILE *out)
{
	for (size_t t = 0; t < MEM_COUNT(line->tables) && line->tables[t].options; t++) {
		if (line->tables[t].heading)
			fprintf(out, "\n%s\n", line->tables[t].heading);
		for (const struct option *o = line->tables[t].options; o->name; o++)
			put_option(line, o, out);
	}
	put_option(line, &help_option, out);
}

void commandline_print_help(const struct commandline *line, FILE *out)
{
	fprintf(out, "usage: kscaled %s %s\n%s\n\n", line->name, line->usage, line->text);
	commandline_print_options(line, out);
	if (line->end)
		fprintf(out, "\n%s%s\n", line->end, line->list ? line->list() : "");
}

/* ---- A command ---- */

int commandline_run(const struct commandline *line, int argc, char **argv)
{
	struct commandline_given given = { .end = NULL };
	struct err err = { 0 };
	MEM_AUTO char *arguments = mem_zalloc(line->size + 1);
	int status = COMMANDLINE_WRONG;

	if (line->begin)
		memcpy(arguments, line->begin, line->size);
	if (line->usage &&
		(commandline_parse(line, argc - 1, argv + 1, &given, &err) < 0 ||
			(!given.end && set_all(line, &given, arguments, &err) < 0))) {
		fprintf(stderr, "kscaled %s: %s\nTry \"kscaled %s --help\".\n", line->name, err.msg, line->name);
		return status;
	}
	if (given.end) {
		commandline_print_help(line, stdout);
		return 0;
	}
	status = line->run(arguments, argv + 1, given.operands, &err);
	if (status != 0 && *err.msg)
		fprintf(stderr, "kscaled %s: %s\n", line->name, err.msg);
	return status;
}
