/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_KUBECTLPLUGIN_H
#define CLI_KUBECTLPLUGIN_H

/*
 * kubectl runs the program kubectl-kscaled for `kubectl kscaled` (its plugins are found by name).
 * That is this program by another name, and asks the cluster as kubectl would, not the daemon that
 * may run on the same host.
 */

#include <stdbool.h>

#define KUBECTLPLUGIN_NAME "kubectl-kscaled"

bool kubectlplugin_runs(void); /* whether the program was started by that name */

/*
 * kubectl's own choice: $KUBECONFIG, else .kube/config in the home folder. The caller owns it;
 * NULL: there is neither, so a service account of a Pod may do.
 */
char *kubectlplugin_kubeconfig(void);

#endif
