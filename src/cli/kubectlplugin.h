/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_KUBECTLPLUGIN_H
#define CLI_KUBECTLPLUGIN_H

/*
 * For `kubectl kscaled` kubectl runs the plugin kubectl-kscaled. That is this program under another
 * name; it asks the cluster like kubectl, not a daemon on the same host.
 */

#include <stdbool.h>

#define KUBECTLPLUGIN_NAME "kubectl-kscaled"

bool kubectlplugin_runs(void); /* whether the program was started under that name */

/*
 * kubectl's own choice: $KUBECONFIG, else .kube/config in the home folder. The caller owns it;
 * NULL: neither; in a Pod its service account may do.
 */
char *kubectlplugin_kubeconfig(void);

#endif
