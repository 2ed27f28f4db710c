/* SPDX-License-Identifier: Apache-2.0 */

/*
 * Runs a formula's code on cells that live on the stack: operands first, then locals, then the
 * elements of arrays.
 */

#include <string.h>

#include "decide/formula/formula_parts.h"

static int make_array(struct formula_machine *m, struct formula_cell *elements, uint32_t count)
{
	uint32_t first;

	if (formula_machine_spend(m, count) < 0 || formula_machine_take(m, count, &first) < 0)
		return -1;
	memcpy(&m->cells[first], elements, count * sizeof(*elements));
	*elements = (struct formula_cell){ TAG_ARRAY, count, { .first = first } };
	return 0;
}

static int take_element(struct formula_machine *m, struct formula_cell *a, const struct formula_cell *index)
{
	int64_t at;

	if (a->tag != TAG_ARRAY && a->tag != TAG_RANGE)
		return formula_machine_wrong(m, "[] takes an element of an array, not of %s", formula_values_name(a));
	if (formula_values_whole(m, index, &at) < 0)
		return -1;
	int64_t from_start = at < 0 ? at + a->len : at;
	if (from_start < 0 || from_start >= a->len)
		return formula_machine_wrong(m, "index %lld is out of range: the array has %u elements", (long long)at,
			a->len);
	*a = formula_machine_element(m, a, (uint32_t)from_start);
	return 0;
}

/* ---- Loops ---- */

/* 1: there is a first element; 0: the array is empty; -1: an error. */
static int loop_begin(struct formula_machine *m, const struct formula_cell *array, enum formula_loop kind)
{
	struct formula_frame *frame = &m->frames[m->frame_count];

	if (array->tag != TAG_ARRAY && array->tag != TAG_RANGE)
		return formula_machine_wrong(m, "an array is needed here, not %s", formula_values_name(array));
	*frame = (struct formula_frame){ .array = *array, .sum = { TAG_INT, 0, { .integer = 0 } }, .kind = kind };
	if ((kind == LOOP_FILTER || kind == LOOP_MAP) && formula_machine_take(m, array->len, &frame->kept) < 0)
		return -1;
	frame->mark = m->used;
	m->frame_count++;
	return array->len > 0;
}

/*
 * Takes the predicate's result for one element. A sum adds it and a map stores it; for the others
 * it must be true or false.
 */
static int loop_count(struct formula_machine *m, struct formula_frame *frame, const struct formula_cell *said)
{
	if (frame->kind == LOOP_SUM) {
		struct formula_cell sum = *said;
		if (formula_values_binary(m, OP_ADD, &sum, &frame->sum) < 0)
			return -1;
		frame->sum = sum;
		return 0;
	}
	if (frame->kind == LOOP_MAP) {
		m->cells[frame->kept + frame->count++] = *said;
		if (said->tag == TAG_ARRAY)
			frame->mark = m->used;
		return 0;
	}
	if (said->tag != TAG_BOOL)
		return formula_machine_wrong(m, "true or false is needed here, not %s", formula_values_name(said));
	if (said->is.truth && frame->kind == LOOP_FILTER)
		m->cells[frame->kept + frame->count] = formula_machine_element(m, &frame->array, frame->index);
	frame->count += said->is.truth;
	return 0;
}

/* Whether the result is known before the end. */
static bool loop_decided(const struct formula_frame *frame)
{
	switch (frame->kind) {
	case LOOP_ALL: return frame->count <= frame->index;
	case LOOP_NONE:
	case LOOP_ANY: return frame->count > 0;
	default: return false;
	}
}

/* 1: once more; 0: done; -1: an error. */
static int loop_next(struct formula_machine *m, const struct formula_cell *said)
{
	struct formula_frame *frame = &m->frames[m->frame_count - 1];

	if (loop_count(m, frame, said) < 0)
		return -1;
	if (loop_decided(frame))
		return 0;
	m->used = frame->mark;
	return ++frame->index < frame->array.len;
}

static struct formula_cell loop_result(struct formula_machine *m)
{
	const struct formula_frame *frame = &m->frames[--m->frame_count];
	bool truth;

	m->used = frame->mark;
	switch (frame->kind) {
	case LOOP_FILTER:
	case LOOP_MAP: return (struct formula_cell){ TAG_ARRAY, frame->count, { .first = frame->kept } };
	case LOOP_COUNT: return (struct formula_cell){ TAG_INT, 0, { .integer = frame->count } };
	case LOOP_SUM: return frame->sum;
	case LOOP_ALL: truth = frame->count == frame->array.len; break;
	case LOOP_NONE: truth = frame->count == 0; break;
	case LOOP_ANY: truth = frame->count > 0; break;
	default: /* LOOP_ONE */ truth = frame->count == 1; break;
	}
	return (struct formula_cell){ TAG_BOOL, 0, { .truth = truth } };
}

/* ---- The code ---- */

/* 1: jump; 0: go on; -1: an error. */
static int jumps(struct formula_machine *m, enum formula_op op, const struct formula_cell *top)
{
	if (op == OP_JUMP_IF_VALUE)
		return top->tag != TAG_NIL;
	if (top->tag != TAG_BOOL)
		return formula_machine_wrong(m, "true or false is needed here, not %s", formula_values_name(top));
	return top->is.truth == (op == OP_JUMP_IF_TRUE);
}

static struct formula_cell variable(const struct formula_value *value)
{
	return value->nil ? (struct formula_cell){ TAG_NIL, 0, { .integer = 0 } }
			  : (struct formula_cell){ TAG_FLOAT, 0, { .real = value->number } };
}

/* An instruction that neither jumps nor loops; puts its result over its first operand. */
static int operate(struct formula_machine *m, const struct formula_insn *at, struct formula_cell *top)
{
	enum formula_op op = (enum formula_op)at->op;

	if (op >= OP_ADD && op <= OP_RANGE)
		return formula_values_binary(m, op, top - 2, top - 1);
	if (op == OP_NOT || op == OP_NEGATE || (op >= OP_LEN && op <= OP_FLOAT))
		return formula_values_unary(m, op, top - 1);
	if (op == OP_ARRAY)
		return make_array(m, top - at->arg, (uint32_t)at->arg);
	if (op == OP_INDEX)
		return take_element(m, top - 2, top - 1);
	return formula_values_many(m, op, top - at->arg, (uint32_t)at->arg);
}

/* How many operands operate() takes. */
static uint32_t operands(const struct formula_insn *at)
{
	if ((at->op >= OP_ADD && at->op <= OP_RANGE) || at->op == OP_INDEX)
		return 2;
	if (at->op == OP_ARRAY || at->op >= OP_MIN)
		return (uint32_t)at->arg;
	return 1;
}

static int execute(struct formula_machine *m)
{
	const struct formula *f = m->formula;
	struct formula_cell *top = m->cells, *locals = m->cells + f->stack_size;
	const struct formula_insn *end = f->code + f->code_count;
	int rc = 0;

	for (const struct formula_insn *at = f->code; at < end; at++) {
		m->at = at;
		if (--m->steps == 0)
			return formula_machine_wrong(m, "more than %d steps", FORMULA_STEPS_MAX);
		switch ((enum formula_op)at->op) {
		case OP_PUSH: *top++ = f->constants[at->arg]; break;
		case OP_VARIABLE: *top++ = variable(&m->values[at->arg]); break;
		case OP_LOCAL: *top++ = locals[at->arg]; break;
		case OP_STORE: locals[at->arg] = *--top; break;
		case OP_KEEP: locals[at->arg] = top[-1]; break;
		case OP_POP: top--; break;
		case OP_JUMP: at = f->code + at->arg - 1; break;
		case OP_JUMP_IF_FALSE:
		case OP_JUMP_IF_TRUE:
		case OP_JUMP_IF_VALUE:
			rc = jumps(m, (enum formula_op)at->op, top - 1);
			at = rc > 0 ? f->code + at->arg - 1 : at;
			break;
		case OP_LOOP:
			rc = loop_begin(m, --top, (enum formula_loop)f->code[at->arg].arg);
			at = rc == 0 ? f->code + at->arg - 1 : at;
			break;
		case OP_ITEM:
			*top++ = formula_machine_element(m, &m->frames[m->frame_count - 1].array,
				m->frames[m->frame_count - 1].index);
			break;
		case OP_NEXT:
			rc = loop_next(m, --top);
			at = rc > 0 ? f->code + at->arg - 1 : at;
			break;
		case OP_RESULT: *top++ = loop_result(m); break;
		default:
			rc = operate(m, at, top);
			top -= (int64_t)operands(at) - 1;
			break;
		}
		if (rc < 0)
			return -1;
	}
	return 0;
}

int formula_run(const struct formula *f, const struct formula_value *values, bool trial, struct formula_cell *out,
	struct err *err)
{
	struct formula_cell cells[FORMULA_CELLS_MAX];
	struct formula_machine m;

	m.formula = f;
	m.values = values;
	m.cells = cells;
	m.used = f->stack_size + f->local_count;
	m.steps = FORMULA_STEPS_MAX;
	m.frame_count = 0; /* frames are set when they are entered */
	m.trial = trial;
	m.err = err;
	if (execute(&m) < 0)
		return -1;
	*out = cells[0];
	return 0;
}
