/* SPDX-License-Identifier: Apache-2.0 */

/* A kubeconfig's text: taken with a server and complete credentials, or refused with words. */

#include <string.h>
#include <strings.h>

#include "fuzz.h"
#include "kube/kubeconfig.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct kubeconfig *kc = kubeconfig_new();
	struct kubeconfig_choice choice;
	struct err err;
	int rc = kubeconfig_add(kc, (const char *)data, size, "folder/config", &err);

	if (rc == 0)
		rc = kubeconfig_choose(kc, &choice, &err);
	if (rc == 0) {
		must(choice.server &&
			(strncasecmp(choice.server, "http://", 7) == 0 ||
				strncasecmp(choice.server, "https://", 8) == 0));
		must(!strpbrk(choice.server, " \r\n"));
		must(!(choice.cert.file || choice.cert.inline_text) == !(choice.key.file || choice.key.inline_text));
		kubeconfig_choice_done(&choice);
	} else {
		must(err.kind == ERR_INVALID && err.msg[0] != '\0');
	}
	kubeconfig_free(kc);
	return 0;
}
