/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/kubectlplugin.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

bool kubectlplugin_runs(void)
{
	return strcmp(program_invocation_short_name, KUBECTLPLUGIN_NAME) == 0;
}

char *kubectlplugin_kubeconfig(void)
{
	const char *named = getenv("KUBECONFIG"), *home = getenv("HOME");

	if (named && *named)
		return mem_dup(named);
	return home && *home ? mem_printf("%s/.kube/config", home) : NULL;
}
