/* SPDX-License-Identifier: Apache-2.0 */
#include "yamldocs.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

void yamldocs_parse(struct yamldocs *out, const char *text, size_t len)
{
	yaml_parser_t parser;

	out->count = 0;
	assert_true(yaml_parser_initialize(&parser));
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	for (;;) {
		assert_true(out->count < YAMLDOCS_MAX);
		if (!yaml_parser_load(&parser, &out->docs[out->count]))
			fail_msg("line %zu: %s", parser.problem_mark.line + 1, parser.problem);
		if (!yaml_document_get_root_node(&out->docs[out->count]))
			break;
		out->count++;
	}
	yaml_document_delete(&out->docs[out->count]);
	yaml_parser_delete(&parser);
}

void yamldocs_done(struct yamldocs *d)
{
	for (size_t i = 0; i < d->count; i++)
		yaml_document_delete(&d->docs[i]);
	d->count = 0;
}

const char *yamldocs_scalar(const yaml_node_t *node)
{
	return node && node->type == YAML_SCALAR_NODE ? (const char *)node->data.scalar.value : "";
}

static yaml_node_t *member(yaml_document_t *doc, yaml_node_t *node, const char *key, size_t len)
{
	if (node->type == YAML_SEQUENCE_NODE) {
		yaml_node_item_t *item = node->data.sequence.items.start + strtoul(key, NULL, 10);

		return item < node->data.sequence.items.top ? yaml_document_get_node(doc, *item) : NULL;
	}
	if (node->type != YAML_MAPPING_NODE)
		return NULL;
	for (yaml_node_pair_t *pair = node->data.mapping.pairs.start; pair < node->data.mapping.pairs.top; pair++) {
		const char *name = yamldocs_scalar(yaml_document_get_node(doc, pair->key));

		if (strlen(name) == len && memcmp(name, key, len) == 0)
			return yaml_document_get_node(doc, pair->value);
	}
	return NULL;
}

yaml_node_t *yamldocs_below(yaml_document_t *doc, yaml_node_t *node, const char *path)
{
	while (node && *path) {
		size_t len = strcspn(path, "|");

		node = member(doc, node, path, len);
		path += len + (path[len] == '|');
	}
	return node;
}

yaml_node_t *yamldocs_node(yaml_document_t *doc, const char *path)
{
	return yamldocs_below(doc, yaml_document_get_root_node(doc), path);
}

const char *yamldocs_text(yaml_document_t *doc, const char *path)
{
	return yamldocs_scalar(yamldocs_node(doc, path));
}

yaml_document_t *yamldocs_find(struct yamldocs *d, const char *kind, const char *name)
{
	for (size_t i = 0; i < d->count; i++)
		if (strcmp(yamldocs_text(&d->docs[i], "kind"), kind) == 0 &&
			strcmp(yamldocs_text(&d->docs[i], "metadata|name"), name) == 0)
			return &d->docs[i];
	fail_msg("no %s %s is printed", kind, name);
	return NULL;
}
