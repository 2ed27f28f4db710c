/* SPDX-License-Identifier: Apache-2.0 */
#ifndef OPTIONS_COMMANDLINE_H
#define OPTIONS_COMMANDLINE_H

/*
 * The command line of a command, declared once: its parser, --help and completion (cli/completion)
 * read the same tables, and a test compares them with the manual. Constant.
 */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "base/err.h"

enum option_kind {
	/* `const char *` */
	OPTION_TEXT,
	OPTION_WORD,     /* one of words */
	OPTION_ABSOLUTE, /* an absolute path */
	OPTION_ADDRESS,
	OPTION_HOST_PORT,
	OPTION_LABEL, /* a DNS-1123 label; OPTIONAL: or "" */
	OPTION_OPTIONAL_LABEL,
	OPTION_SUBDOMAIN,
	OPTION_LABELS, /* "a,b"; unchecked here; the last of these */

	OPTION_BOOL,         /* `bool`: true, false, or without a value true */
	OPTION_SWITCH,       /* `bool`: takes no value */
	OPTION_PORT,         /* `uint16_t`, from least */
	OPTION_COUNT,        /* `int64_t` */
	OPTION_DURATION,     /* `int64_t`, in ms */
	OPTION_MILLISECONDS, /* a DURATION, or a bare number of milliseconds */
	OPTION_LEVEL,        /* `enum log_level` */
	OPTION_FORMAT,       /* `enum log_format` */
	OPTION_END           /* --help, --version: sets nothing, and nothing else is read */
};

struct option {
	const char *name; /* without its dashes; NULL ends a table */
	enum option_kind kind;
	size_t offset;        /* of its member */
	const char *argument; /* as --help shows it; FILE and PATH name files, DIR a directory; NULL: takes none */
	const char *help;
	char letter;              /* its short form; '\0': none */
	const char *env_also;     /* an alternative variable, if the daemon's is not set; NULL */
	const char *initial;      /* the default as text; NULL: none */
	int64_t least, most;      /* of a PORT, a COUNT, and in ms of a DURATION */
	const char *const *words; /* its values, NULL-terminated; NULL: see commandline_words */
};

struct commandline {
	const char *name, *summary;
	const char *usage; /* what follows the name; NULL: nothing, not even --help */
	const char *text;  /* --help prints it between usage and options; */
	const char *end;   /* and this below them, and list(). NULL: nothing */
	const char *(*list)(void);
	struct {
		const struct option *options;
		size_t base; /* the offset of the table's struct in that of the command */
		const char *heading;
	} tables[5];              /* --help is added */
	const char *removed;      /* "NAME was removed: ..." of an option that no longer exists */
	const char *const *words; /* the values of the first operand; NULL: any */
	bool files;               /* operands are files */
	bool operands;            /* false: only options */
	size_t size;              /* of the command's struct */
	const void *begin;        /* its content before the options are stored; NULL: zeros */
	/* Returns the exit status; if that is not 0, *err is printed. NULL: the daemon's */
	int (*run)(void *arguments, char **operands, int count, struct err *err);
	bool variables; /* the daemon's: --NAME in full, and each option has a variable KSCALED_NAME */
};

/* The i-th option of all tables, its offset with the base. false: there are fewer. */
bool commandline_option(const struct commandline *line, size_t i, struct option *out);

/* The values of an option, NULL-terminated. NULL: any. */
const char *const *commandline_words(const struct option *option);

#define COMMANDLINE_VARIABLE 64
/* KSCALED_LEASE_NAME of lease-name. Returns out. */
const char *commandline_variable(const struct option *option, char out[COMMANDLINE_VARIABLE]);

#define COMMANDLINE_MAX 64
struct commandline_given {
	const char *value[COMMANDLINE_MAX]; /* by the option's number, borrowed from argv; NULL: not given */
	const char *end;                    /* an OPTION_END: what follows it is not read; NULL: none */
	int operands;                       /* moved to the front of argv */
};

/*
 * argv[0] is the first argument. As getopt_long: --name=value, --name value, -nvalue, -n value; a
 * unique abbreviation of a name, unless line->variables; letters without a value may be joined;
 * options may follow operands, until --. The last of several values counts. ERR_INVALID: an unknown
 * or ambiguous option, a missing value, or an operand where none is allowed.
 */
int commandline_parse(const struct commandline *line, int argc, char **argv, struct commandline_given *out,
	struct err *err);

/*
 * Always -1. ERR_INVALID: `unknown option --secure-prot; perhaps --secure-port`. dashes: "--"; ""
 * in a file.
 */
int commandline_unknown(const struct commandline *line, const char *name, const char *dashes, struct err *err);

/* Checks the value of an option that is a `const char *`. ERR_INVALID as commandline_set. */
int commandline_check(const struct option *option, const char *text, struct err *err);

/*
 * Checks the text and stores it in the option's member; a `const char *` borrows it. ERR_INVALID
 * has the value and what is allowed.
 */
int commandline_set(const struct option *option, const char *text, void *base, struct err *err);

/* --help: all of it, or only the options. */
void commandline_print_help(const struct commandline *line, FILE *out);
void commandline_print_options(const struct commandline *line, FILE *out);

/*
 * Runs a command: stores its values, else the defaults, in its struct. argv[0] is its name. Returns
 * the exit status: 0 after --help, COMMANDLINE_WRONG after an error in the options; errors are
 * printed.
 */
enum { COMMANDLINE_WRONG = 2 };
int commandline_run(const struct commandline *line, int argc, char **argv);

#endif
