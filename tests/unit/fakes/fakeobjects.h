/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_FAKES_FAKEOBJECTS_H
#define TESTS_UNIT_FAKES_FAKEOBJECTS_H

/*
 * Records of objects that no store has, for tests of modules that need only somebody who holds
 * something: made when their key is named first, without content.
 */

#include "cache/objects/object.h"

struct object *fakeobject(const char *key);
void fakeobjects_end(void); /* after the modules let go of what they keep of them */

#endif
