/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_SECRETMANAGERS_KEYVAULT_H
#define NET_SECRETMANAGERS_KEYVAULT_H

/*
 * Azure Key Vault: the operation Get Secret of its REST API. A vault is a host of its own; whoever
 * asks it shows a token of Entra ID.
 */

#include "net/secretmanagers/secretmanager.h"

extern const struct secretmanager keyvault;

#endif
