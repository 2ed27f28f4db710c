/* SPDX-License-Identifier: Apache-2.0 */
#include "net/mysql/coroutine.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/mem.h"

#if defined(__SANITIZE_ADDRESS__)
#define TELL_SANITIZER 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define TELL_SANITIZER 1
#endif
#endif
#ifdef TELL_SANITIZER
#include <sanitizer/common_interface_defs.h>
#endif

struct coroutine {
	coroutine_fn fn;
	void *arg;
	char *stack; /* the guard page, then COROUTINE_STACK_BYTES; NULL until it runs */
	ucontext_t inside, outside;
	bool running, ended;
	/*
	 * For the sanitizer: what it stores about the suspended stack, and the position of the
	 * outer stack.
	 */
	void *fake_outside, *fake_inside;
	const void *outside_bottom;
	size_t outside_size;
};

static char *kept_stack; /* the stack freed last */

static size_t guard_bytes(void)
{
	return (size_t)sysconf(_SC_PAGESIZE);
}

static char *take_stack(void)
{
	char *stack = kept_stack;

	kept_stack = NULL;
	if (stack)
		return stack;
	stack = mmap(NULL, guard_bytes() + COROUTINE_STACK_BYTES, PROT_READ | PROT_WRITE,
		MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
	if (stack == MAP_FAILED || mprotect(stack, guard_bytes(), PROT_NONE) != 0) {
		fprintf(stderr, "kscaled: no memory for a stack: %s\n", strerror(errno));
		abort();
	}
	return stack;
}

/*
 * The stack may have held credentials: its pages are dropped, so the cached stack uses no memory
 * and reads as zeros.
 */
static void give_stack(char *stack)
{
	size_t bytes = guard_bytes() + COROUTINE_STACK_BYTES;

	if (!stack)
		return;
	if (kept_stack || madvise(stack + guard_bytes(), COROUTINE_STACK_BYTES, MADV_DONTNEED) != 0)
		munmap(stack, bytes);
	else
		kept_stack = stack;
}

/* ---- Switching stacks ---- */

static void leaving(struct coroutine *co, bool inwards)
{
#ifdef TELL_SANITIZER
	if (inwards)
		__sanitizer_start_switch_fiber(&co->fake_outside, co->stack + guard_bytes(), COROUTINE_STACK_BYTES);
	else
		__sanitizer_start_switch_fiber(co->ended ? NULL : &co->fake_inside, co->outside_bottom,
			co->outside_size);
#else
	(void)co;
	(void)inwards;
#endif
}

static void arrived(struct coroutine *co, bool inside)
{
#ifdef TELL_SANITIZER
	if (inside)
		__sanitizer_finish_switch_fiber(co->fake_inside, &co->outside_bottom, &co->outside_size);
	else
		__sanitizer_finish_switch_fiber(co->fake_outside, NULL, NULL);
#else
	(void)co;
	(void)inside;
#endif
}

/* makecontext passes only ints. */
static void begin(unsigned high, unsigned low)
{
	struct coroutine *co = (struct coroutine *)(uintptr_t)(((uint64_t)high << 32) | low);

	arrived(co, true);
	co->fn(co->arg);
	co->ended = true;
	leaving(co, false);
	setcontext(&co->outside);
	abort();
}

static void prepare(struct coroutine *co)
{
	uint64_t address = (uintptr_t)co;

	co->stack = take_stack();
	if (getcontext(&co->inside) != 0)
		abort();
	co->inside.uc_stack.ss_sp = co->stack + guard_bytes();
	co->inside.uc_stack.ss_size = COROUTINE_STACK_BYTES;
	co->inside.uc_link = NULL;
	makecontext(&co->inside, (void (*)(void))(uintptr_t)begin, 2, (unsigned)(address >> 32), (unsigned)address);
}

struct coroutine *coroutine_new(coroutine_fn fn, void *arg)
{
	struct coroutine *co = mem_zalloc(sizeof(*co));

	co->fn = fn;
	co->arg = arg;
	return co;
}

bool coroutine_resume(struct coroutine *co)
{
	if (!co->stack)
		prepare(co);
	co->running = true;
	leaving(co, true);
	if (swapcontext(&co->outside, &co->inside) != 0)
		abort();
	arrived(co, false);
	co->running = false;
	return !co->ended;
}

void coroutine_wait(struct coroutine *co)
{
	leaving(co, false);
	if (swapcontext(&co->inside, &co->outside) != 0)
		abort();
	arrived(co, true);
}

bool coroutine_inside(const struct coroutine *co)
{
	return co && co->running;
}

void coroutine_free(struct coroutine *co)
{
	if (!co)
		return;
	give_stack(co->stack);
	free(co);
}
