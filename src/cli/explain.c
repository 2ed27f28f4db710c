/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/explain.h"

#include <getopt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/timestamp.h"
#include "cli/explaintext.h"

static const char help_text[] =
	"usage: kscaled explain [OPTION]... [KIND] NAMESPACE/NAME\n"
	"Tell why the replicas of a ScaledObject's target are what they are, or why a ScaledJob has created so many\n"
	"Jobs: readings, the decision and what held it back, what the HorizontalPodAutoscaler says, and what was\n"
	"changed or created lately, and why.\n"
	"\n"
	"KIND is so (scaledobject) or sj (scaledjob); without it, whichever has the name, and the ScaledObject of "
	"two.\n"
	"\n"
	"  -n, --namespace NS           the namespace, when only NAME is given\n"
	"  -o, --output json            print the answer as JSON\n"
	"      --status-address HOST:PORT\n"
	"                               where kscaled answers (default: as the daemon's)\n"
	"      --help                   print this text\n";

struct explain_arguments {
	const char *address, *namespace_, *kind /* NULL: either */, *object;
	bool json, help;
};

/* [KIND] NAME */
static bool take_words(struct explain_arguments *a, char *const *words, int count)
{
	if (count == 2) {
		a->kind = asking_kind(words[0]);
		if (!a->kind)
			fprintf(stderr,
				"kscaled explain: \"%.80s\" is no kind: so and sj are, or scaledobject and scaledjob\n",
				words[0]);
	} else if (count != 1) {
		fputs("kscaled explain: name one object: NAMESPACE/NAME\n", stderr);
	}
	a->object = count > 0 ? words[count - 1] : NULL;
	return count == 1 || (count == 2 && a->kind);
}

static bool read_options(int argc, char **argv, struct explain_arguments *a)
{
	static const struct option options[] = {
		{ "namespace", required_argument, NULL, 'n' },
		{ "output", required_argument, NULL, 'o' },
		{ "status-address", required_argument, NULL, 's' },
		{ "help", no_argument, NULL, 'h' },
		{ NULL, 0, NULL, 0 },
	};
	int c;

	optind = 0; /* glibc: begin anew, main may have used getopt before */
	while ((c = getopt_long(argc, argv, "n:o:h", options, NULL)) != -1) {
		switch (c) {
		case 'n': a->namespace_ = optarg; break;
		case 's': a->address = optarg; break;
		case 'h': a->help = true; return true;
		case 'o':
			a->json = strcmp(optarg, "json") == 0;
			if (a->json)
				break;
			fprintf(stderr, "kscaled explain: -o: \"%s\" is not json\n", optarg);
			return false;
		default: fputs("Try \"kscaled explain --help\".\n", stderr); return false;
		}
	}
	return take_words(a, argv + optind, argc - optind);
}

/*
 * "/explain/shop/web", "/explain/scaledjobs/shop/web"; the caller owns it. NULL, and it was said
 * why: these cannot be names.
 */
static char *path_of(const struct explain_arguments *a)
{
	const char *slash = strchr(a->object, '/'), *name = slash ? slash + 1 : a->object;
	MEM_AUTO char *namespace_ = slash ? mem_dupn(a->object, (size_t)(slash - a->object))
					  : mem_dup(a->namespace_ ? a->namespace_ : "");

	if (!slash && !a->namespace_)
		fprintf(stderr, "kscaled explain: \"%.80s\": say the namespace, too: NAMESPACE/NAME\n", a->object);
	else if (slash && a->namespace_ && strcmp(namespace_, a->namespace_) != 0)
		fprintf(stderr, "kscaled explain: \"%.80s\" is not in the namespace \"%.80s\" that -n names\n",
			a->object, a->namespace_);
	else if (!asking_is_name(namespace_) || !asking_is_name(name))
		fprintf(stderr,
			"kscaled explain: \"%s/%.80s\" cannot be an object: lower-case letters, digits, \"-\" and "
			"\".\" are allowed, as NAMESPACE/NAME\n",
			namespace_, name);
	else
		return mem_printf("/explain/%s%s%s/%s", a->kind ? a->kind : "", a->kind ? "s/" : "", namespace_, name);
	return NULL;
}

int cli_explain(int argc, char **argv, const char *status_address)
{
	static char name[] = "kscaled explain"; /* what getopt's own messages begin with */
	struct explain_arguments a = { .address = status_address };
	MEM_AUTO char *path = NULL;
	int64_t now_unix_ms = timestamp_now_ms();

	argv[0] = name;
	if (!read_options(argc, argv, &a))
		return ASKING_UNREACHABLE;
	if (a.help) {
		fputs(help_text, stdout);
		return ASKING_OK;
	}
	path = path_of(&a);
	if (!path)
		return ASKING_UNREACHABLE;
	return asking_run(name, a.address, path, a.json, explaintext_render, &now_unix_ms);
}
