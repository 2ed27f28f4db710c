/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_WEBHOOK_H
#define CLI_DOCTOR_WEBHOOK_H

/*
 * Judgements of `kscaled doctor` on the admission webhook: its configuration, and whether it is
 * asked. Pure.
 *
 * Facts: "webhooks" (the ValidatingWebhookConfiguration), "certificates" (ca), and "trial": what
 * the API server said to a ScaledObject that the webhook must refuse.
 */

#include "cli/doctor/facts.h"

void webhook_configuration(const struct facts *c);
void webhook_reached(const struct facts *c);

#endif
