/* SPDX-License-Identifier: Apache-2.0 */
#include "kube/yamldoc.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"
#include "base/text.h"

#define DEPTH_MAX   64
#define NODES_MAX   100000
#define ANCHORS_MAX 100 /* libyaml searches them linearly, so many take quadratic time */

struct yamldoc {
	yaml_document_t document;
};

static int parser_error(const yaml_parser_t *parser, struct err *err)
{
	return err_set(err, ERR_INVALID, "line %zu: %s", parser->problem_mark.line + 1,
		parser->problem ? parser->problem : "not YAML");
}

struct yaml_counts {
	int depth, nodes, anchors;
	bool ended;
};

/* Applies the caps to one event. */
static int count_event(struct yaml_counts *n, const yaml_event_t *event, struct err *err)
{
	const yaml_char_t *anchor = NULL;

	switch (event->type) {
	case YAML_MAPPING_START_EVENT:
		n->depth++;
		anchor = event->data.mapping_start.anchor;
		break;
	case YAML_SEQUENCE_START_EVENT:
		n->depth++;
		anchor = event->data.sequence_start.anchor;
		break;
	case YAML_SCALAR_EVENT: anchor = event->data.scalar.anchor; break;
	case YAML_MAPPING_END_EVENT:
	case YAML_SEQUENCE_END_EVENT: n->depth--; break;
	case YAML_DOCUMENT_END_EVENT:
	case YAML_STREAM_END_EVENT: n->ended = true; break;
	default: break;
	}
	n->nodes++;
	n->anchors += anchor != NULL;
	if (n->depth > DEPTH_MAX)
		return err_set(err, ERR_INVALID, "line %zu: nested deeper than %d", event->start_mark.line + 1,
			DEPTH_MAX);
	if (n->nodes > NODES_MAX)
		return err_set(err, ERR_INVALID, "line %zu: more than %d values", event->start_mark.line + 1,
			NODES_MAX);
	if (n->anchors > ANCHORS_MAX)
		return err_set(err, ERR_INVALID, "line %zu: more than %d anchors", event->start_mark.line + 1,
			ANCHORS_MAX);
	return 0;
}

/* A first pass over the events, so that no tree is built from hostile input. */
static int check_caps(const char *text, size_t len, struct err *err)
{
	struct yaml_counts counts = { 0, 0, 0, false };
	yaml_parser_t parser;
	int rc = 0;

	if (!yaml_parser_initialize(&parser))
		return err_set(err, ERR_BUG, "no memory for the YAML parser");
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	while (rc == 0 && !counts.ended) {
		yaml_event_t event;

		if (!yaml_parser_parse(&parser, &event)) {
			rc = parser_error(&parser, err);
			break;
		}
		rc = count_event(&counts, &event, err);
		yaml_event_delete(&event);
	}
	yaml_parser_delete(&parser);
	return rc;
}

struct yamldoc *yamldoc_parse(const char *text, size_t len, struct err *err)
{
	struct yamldoc *doc;
	yaml_parser_t parser;

	if (check_caps(text, len, err) < 0)
		return NULL;
	if (!yaml_parser_initialize(&parser)) {
		err_set(err, ERR_BUG, "no memory for the YAML parser");
		return NULL;
	}
	doc = mem_zalloc(sizeof *doc);
	yaml_parser_set_input_string(&parser, (const unsigned char *)text, len);
	if (!yaml_parser_load(&parser, &doc->document)) {
		parser_error(&parser, err);
		free(doc);
		doc = NULL;
	}
	yaml_parser_delete(&parser);
	return doc;
}

void yamldoc_free(struct yamldoc *doc)
{
	if (!doc)
		return;
	for (yaml_node_t *node = doc->document.nodes.start; node < doc->document.nodes.top; node++)
		if (node->type == YAML_SCALAR_NODE)
			mem_wipe(node->data.scalar.value, node->data.scalar.length);
	yaml_document_delete(&doc->document);
	free(doc);
}

yaml_node_t *yamldoc_root(struct yamldoc *doc)
{
	return yaml_document_get_root_node(&doc->document);
}

yaml_node_t *yamldoc_field(struct yamldoc *doc, yaml_node_t *mapping, const char *key)
{
	size_t len = strlen(key);

	if (!yamldoc_is_mapping(mapping))
		return NULL;
	for (yaml_node_pair_t *pair = mapping->data.mapping.pairs.start; pair < mapping->data.mapping.pairs.top;
		pair++) {
		yaml_node_t *name = yaml_document_get_node(&doc->document, pair->key);

		if (name && name->type == YAML_SCALAR_NODE && name->data.scalar.length == len &&
			memcmp(name->data.scalar.value, key, len) == 0)
			return yaml_document_get_node(&doc->document, pair->value);
	}
	return NULL;
}

size_t yamldoc_length(yaml_node_t *sequence)
{
	if (!sequence || sequence->type != YAML_SEQUENCE_NODE)
		return 0;
	return (size_t)(sequence->data.sequence.items.top - sequence->data.sequence.items.start);
}

yaml_node_t *yamldoc_element(struct yamldoc *doc, yaml_node_t *sequence, size_t index)
{
	if (index >= yamldoc_length(sequence))
		return NULL;
	return yaml_document_get_node(&doc->document, sequence->data.sequence.items.start[index]);
}

bool yamldoc_is_mapping(yaml_node_t *node)
{
	return node && node->type == YAML_MAPPING_NODE;
}

bool yamldoc_is_null(yaml_node_t *node)
{
	static const char *const nulls[] = { "", "~", "null", "Null", "NULL", NULL };

	return !node ||
		(node->type == YAML_SCALAR_NODE && node->data.scalar.style == YAML_PLAIN_SCALAR_STYLE &&
			text_is_one_of((const char *)node->data.scalar.value, nulls));
}

const char *yamldoc_text(yaml_node_t *node)
{
	if (!node || node->type != YAML_SCALAR_NODE ||
		strlen((const char *)node->data.scalar.value) != node->data.scalar.length)
		return NULL;
	return (const char *)node->data.scalar.value;
}
