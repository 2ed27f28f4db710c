/* SPDX-License-Identifier: Apache-2.0 */
#ifndef SCALERS_MISSINGTYPES_H
#define SCALERS_MISSINGTYPES_H

/*
 * KEDA's trigger types that kscaled does not have, each with what can be used in its place, so that
 * who comes with such a manifest is not left with a list of names. Of KEDA 2.20 and 2.21
 * (pkg/scaling/scalers_builder.go), and of types that it once had. A type that is written here
 * moves out of the table when it comes into scalers/registry.c.
 */

/* What to use in place of it: a constant clause. NULL: KEDA has no such type, or kscaled has it. */
const char *missingtypes_instead(const char *type);

/*
 * What to say to who asked for a type that is not there: that, or which type it may be a slip of
 * the pen for, or where all stand. A clause that the caller owns.
 */
char *missingtypes_explain(const char *type);

#endif
