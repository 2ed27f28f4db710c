/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/ask/asking.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "base/mem.h"
#include "cli/kubectlplugin.h"

#define GROUP_PATH "/apis/insight.kscaled.io/v1"

const struct option asking_options[] = {
	{ "socket", OPTION_TEXT, offsetof(struct insightclient_ways, socket), "PATH",
		.help = "Unix socket of kscaled on this host" },
	{ "kubeconfig", OPTION_TEXT, offsetof(struct insightclient_ways, kubeconfig), "FILE",
		.help = "ask the cluster instead, with this kubeconfig (default: kscaled's socket if one answers, else "
			"KUBECONFIG)" },
	{ .name = NULL },
};

struct asking_screen asking_screen(void)
{
	struct winsize size = { 0 };

	if (!isatty(STDOUT_FILENO))
		return (struct asking_screen){ 0, 0 };
	if (ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) || size.ws_col < 20 || size.ws_row < 5)
		return (struct asking_screen){ 80, 24 };
	return (struct asking_screen){ size.ws_col, size.ws_row };
}

int asking_begin(struct asking *a, struct insightclient_ways *ways, struct err *err)
{
	bool is_plugin = kubectlplugin_runs();

	*a = (struct asking){ .kubeconfig = NULL };
	if (is_plugin && !ways->socket && !ways->kubeconfig)
		ways->kubeconfig = a->kubeconfig = kubectlplugin_kubeconfig();
	if (is_plugin || options_load(0, NULL, &a->options, err) == 0) {
		ways->usual_socket = a->options.insight_socket;
		ways->usual_kubeconfig = a->options.kubeconfig;
		a->client = insightclient_new(ways, err);
	}
	return a->client ? 0 : -1;
}

void asking_done(struct asking *a)
{
	insightclient_free(a->client);
	options_done(&a->options);
	free(a->kubeconfig);
}

const struct asking_kind asking_every_kind[ASKING_KINDS] = {
	{ ASKING_OBJECTS, "so", "ScaledObject" },
	{ ASKING_JOBS, "sj", "ScaledJob" },
};

#define NAMES_OF_A_KIND 4
const char *const asking_kinds[] = { "so", "scaledobject", "scaledobjects", "soi", "sj", "scaledjob", "scaledjobs",
	"sji", NULL };

const char *asking_resource(const char *word)
{
	for (size_t i = 0; asking_kinds[i]; i++)
		if (strcmp(word, asking_kinds[i]) == 0)
			return asking_every_kind[i / NAMES_OF_A_KIND].resource;
	return NULL;
}

char *asking_path(const char *resource, const char *namespace_, const char *name)
{
	return mem_printf(GROUP_PATH "%s%s/%s%s%s", namespace_ ? "/namespaces/" : "", namespace_ ? namespace_ : "",
		resource, name ? "/" : "", name ? name : "");
}
