/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_MANAGEDFIELDS_H
#define KUBE_MANAGEDFIELDS_H

/*
 * metadata.managedFields tells which client wrote which field of an object. It is often more than
 * half of what the API server sends, few ask for it, and to parse it costs far more than to find
 * its end. So it is stripped from the text, as controller-runtime's TransformStripManagedFields
 * does from the object.
 */

#include <jansson.h>
#include <stdbool.h>
#include <stddef.h>

/*
 * Writes json to out, which has room for len bytes, without the managedFields of an object, of the
 * items of a list, or of a watch event's object; returns how many bytes that are. Those deeper
 * inside, as in a Pod template, stay. What is not JSON stays as it is from there on.
 */
size_t managedfields_strip(const char *json, size_t len, char *out);

/* json_parse of that, or, to keep them, of json itself. NULL: it is not JSON. */
json_t *managedfields_parse(const char *json, size_t len, bool keep);

#endif
