/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/kubectlplugin.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

bool kubectlplugin_runs(const char *program)
{
	const char *slash = strrchr(program, '/');

	return strcmp(slash ? slash + 1 : program, KUBECTLPLUGIN_NAME) == 0;
}

char *kubectlplugin_kubeconfig(void)
{
	const char *named = getenv("KUBECONFIG"), *home = getenv("HOME");

	if (named && *named)
		return mem_dup(named);
	return home && *home ? mem_printf("%s/.kube/config", home) : NULL;
}
