/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_WEBHOOK_H
#define CLI_DOCTOR_WEBHOOK_H

/*
 * Checks of `kscaled doctor` on the admission webhook: its configuration, and whether the API
 * server reaches it. Pure.
 *
 * Facts: "webhooks" (the ValidatingWebhookConfiguration), "certificates" (ca), and "trial": the API
 * server's answer to a ScaledObject that the webhook must deny.
 */

#include "cli/doctor/facts.h"

void webhook_configuration(const struct facts *c);
void webhook_reached(const struct facts *c);

#endif
