/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/deleteorder.h"

#include <stddef.h>
#include <string.h>

#include "base/mem.h"

/* The line ends keep "kind: Role" from being found in "kind: RoleBinding". */
static const char *const order[] = {
	"\nkind: ValidatingWebhookConfiguration\n",
	"\nkind: APIService\n",
	"\nkind: CustomResourceDefinition\n",
	"\nkind: PodMonitor\n",
	"\nkind: ServiceMonitor\n",
	"\nkind: PodDisruptionBudget\n",
	"\nkind: Deployment\n",
	"\nkind: NetworkPolicy\n",
	"\nkind: EndpointSlice\n",
	"\nkind: Endpoints\n",
	"\nkind: Service\n",
	"\nkind: ClusterRoleBinding\n",
	"\nkind: RoleBinding\n",
	"\nkind: ClusterRole\n",
	"\nkind: Role\n",
	"\nkind: ServiceAccount\n",
	"\nkind: Namespace\n",
};

static const char *next_document(const char *text)
{
	const char *end = strstr(text, "\n---\n");

	return end ? end + 1 : text + strlen(text);
}

/* The position of its kind in the order; unknown kinds come last. */
static size_t place(const char *document, size_t len)
{
	size_t i = 0;

	while (i < MEM_COUNT(order) && !memmem(document, len, order[i], strlen(order[i])))
		i++;
	return i;
}

void deleteorder_print(const char *text, FILE *out)
{
	for (size_t i = 0; i <= MEM_COUNT(order); i++)
		for (const char *at = text, *next; *at; at = next) {
			next = next_document(at);
			if (place(at, (size_t)(next - at)) == i)
				fwrite(at, 1, (size_t)(next - at), out);
		}
}
