/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_MISSINGTYPES_H
#define SCALERS_MISSINGTYPES_H

/*
 * KEDA's trigger types that kscaled does not have, each with a replacement. From KEDA 2.20 and 2.21
 * (pkg/scaling/scalers_builder.go), and types that KEDA has removed. Remove a type from the table
 * when it is added to scalers/registry.c.
 */

/* The replacement, a constant clause. NULL: KEDA has no such type, or kscaled has it. */
const char *missingtypes_instead(const char *type);

/*
 * Explains an unknown type: its replacement, else the type that was probably meant, and the manual
 * page. A clause that the caller owns.
 */
char *missingtypes_explain(const char *type);

#endif
