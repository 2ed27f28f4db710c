/* SPDX-License-Identifier: Apache-2.0 */

/* Writes the code, and counts the stack, locals and loops that it needs at run time. */

#include "base/mem.h"
#include "decide/formula/formula_parts.h"

uint32_t formula_emit(struct formula_parser *p, struct formula_place place, enum formula_op op, uint32_t arg, int moves)
{
	struct formula *f = p->out;

	if (f->code_count == p->code_alloc) {
		p->code_alloc = p->code_alloc * 2 + 8;
		f->code = mem_resize(f->code, p->code_alloc, sizeof(*f->code));
	}
	f->code[f->code_count] = (struct formula_insn){ (uint8_t)op, (uint8_t)(place.line < 255 ? place.line : 255),
		(uint16_t)place.column, (int32_t)arg };
	p->stack = (uint32_t)((int)p->stack + moves);
	if (p->stack > f->stack_size)
		f->stack_size = p->stack;
	return f->code_count++;
}

void formula_emit_constant(struct formula_parser *p, struct formula_place place, struct formula_cell value)
{
	struct formula *f = p->out;

	if (f->constant_count == p->constant_alloc) {
		p->constant_alloc = p->constant_alloc * 2 + 4;
		f->constants = mem_resize(f->constants, p->constant_alloc, sizeof(*f->constants));
	}
	f->constants[f->constant_count] = value;
	formula_emit(p, place, OP_PUSH, f->constant_count++, 1);
}

void formula_emit_target(struct formula_parser *p, uint32_t jump)
{
	p->out->code[jump].arg = (int32_t)p->out->code_count;
}

int formula_emit_local(struct formula_parser *p, struct formula_place place, uint32_t *slot)
{
	if (p->locals == FORMULA_LOCALS_MAX)
		return formula_wrong(p->err, place, "more than %d let and chained comparisons within one another",
			FORMULA_LOCALS_MAX);
	*slot = p->locals++;
	if (p->locals > p->out->local_count)
		p->out->local_count = p->locals;
	return 0;
}
