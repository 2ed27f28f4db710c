/* SPDX-License-Identifier: Apache-2.0 */
#ifndef TESTS_UNIT_CLI_YAMLDOCS_H
#define TESTS_UNIT_CLI_YAMLDOCS_H

/*
 * A stream of YAML documents, parsed by libyaml, with access by path. Fails the running test if the
 * text is not YAML.
 */

#include <stddef.h>
#include <yaml.h>

#define YAMLDOCS_MAX 64

struct yamldocs {
	yaml_document_t docs[YAMLDOCS_MAX];
	size_t count;
};

void yamldocs_parse(struct yamldocs *out, const char *text, size_t len);
void yamldocs_done(struct yamldocs *d);

/*
 * "spec|ports|0|port": keys and indexes separated by |. NULL if there is no such node. "" is the
 * root.
 */
yaml_node_t *yamldocs_node(yaml_document_t *doc, const char *path);
yaml_node_t *yamldocs_below(yaml_document_t *doc, yaml_node_t *node, const char *path);
/* Its text; "" if it is missing or not a scalar. */
const char *yamldocs_text(yaml_document_t *doc, const char *path);
const char *yamldocs_scalar(const yaml_node_t *node);

/* The document of this kind and name; fails the test if there is none. */
yaml_document_t *yamldocs_find(struct yamldocs *d, const char *kind, const char *name);

#endif
