/* SPDX-License-Identifier: Apache-2.0 */
#ifndef CLI_DOCTOR_HOOKS_H
#define CLI_DOCTOR_HOOKS_H

/*
 * Judgements of `kscaled doctor` on the admission webhook: its configuration, and whether it is
 * asked. Pure.
 *
 * Facts: "webhooks" (the ValidatingWebhookConfiguration), "certificates" (ca), and "trial": what
 * the API server said to a ScaledObject that the webhook must refuse.
 */

#include "cli/doctor/casefile.h"

void hooks_configuration(const struct casefile *c);
void hooks_reached(const struct casefile *c);

#endif
