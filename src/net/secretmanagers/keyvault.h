/* SPDX-License-Identifier: Apache-2.0 */
#ifndef NET_SECRETMANAGERS_KEYVAULT_H
#define NET_SECRETMANAGERS_KEYVAULT_H

/*
 * Azure Key Vault: the operation Get Secret of its REST API. Each vault has a host of its own,
 * which gets a token of Entra ID.
 */

#include "net/secretmanagers/secretmanager.h"

extern const struct secretmanager keyvault;

#endif
