/* SPDX-License-Identifier: Apache-2.0 */
#ifndef KUBE_YAMLDOC_H
#define KUBE_YAMLDOC_H

/*
 * One YAML document as libyaml's tree, with caps on nesting, nodes and anchors, and accessors that
 * treat NULL and wrong types as absent. Aliases point into the tree and are never expanded. All
 * scalars are wiped when the document is freed.
 */

#include <stdbool.h>
#include <stddef.h>
#include <yaml.h>

#include "base/err.h"

struct yamldoc;

/*
 * Parses the first document of the text; an empty text gives a document without a root. ERR_INVALID
 * names the line.
 */
struct yamldoc *yamldoc_parse(const char *text, size_t len, struct err *err);
void yamldoc_free(struct yamldoc *doc);

/* Nodes are borrowed from the document; all accessors accept a NULL node. */
yaml_node_t *yamldoc_root(struct yamldoc *doc);
/* NULL: absent, or not a mapping */
yaml_node_t *yamldoc_field(struct yamldoc *doc, yaml_node_t *mapping, const char *key);
size_t yamldoc_length(yaml_node_t *sequence); /* 0 for anything else */
yaml_node_t *yamldoc_element(struct yamldoc *doc, yaml_node_t *sequence, size_t index);
bool yamldoc_is_mapping(yaml_node_t *node);
bool yamldoc_is_null(yaml_node_t *node);     /* absent, `null`, `~` or an empty value */
const char *yamldoc_text(yaml_node_t *node); /* a scalar's text; NULL for anything else and for text with NUL bytes */

#endif
