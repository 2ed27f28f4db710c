/* SPDX-License-Identifier: Apache-2.0 */
#include "base/mem.h"

#include <malloc.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *must(void *ptr)
{
	if (ptr == NULL) {
		fputs("kscaled: out of memory\n", stderr);
		abort();
	}
	return ptr;
}

void *mem_alloc(size_t size)
{
	return must(malloc(size > 0 ? size : 1));
}

void *mem_zalloc(size_t size)
{
	return mem_array(1, size);
}

void *mem_array(size_t count, size_t size)
{
	return must(calloc(count > 0 ? count : 1, size > 0 ? size : 1));
}

void *mem_resize(void *ptr, size_t count, size_t size)
{
	return must(reallocarray(ptr, count > 0 ? count : 1, size > 0 ? size : 1));
}

char *mem_dup(const char *text)
{
	return text == NULL ? NULL : mem_dupn(text, strlen(text));
}

char *mem_dupn(const char *bytes, size_t len)
{
	if (len == (size_t)-1)
		must(NULL);
	char *copy = mem_alloc(len + 1);
	if (len > 0)
		memcpy(copy, bytes, len);
	copy[len] = '\0';
	return copy;
}

char *mem_printf(const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	char *text = mem_vprintf(fmt, ap);
	va_end(ap);
	return text;
}

char *mem_vprintf(const char *fmt, va_list ap)
{
	char *text = NULL;

	if (vasprintf(&text, fmt, ap) < 0)
		must(NULL);
	return text;
}

void mem_wipe(void *ptr, size_t len)
{
	if (ptr != NULL)
		explicit_bzero(ptr, len);
}

void mem_free_secret(char *text)
{
	if (text == NULL)
		return;
	mem_wipe(text, strlen(text));
	free(text);
}

void mem_free_ptr(void *ptr_to_ptr)
{
	void *ptr;

	/* By memcpy, because the pointer's type is unknown. */
	memcpy(&ptr, ptr_to_ptr, sizeof(ptr));
	free(ptr);
	ptr = NULL;
	memcpy(ptr_to_ptr, &ptr, sizeof(ptr));
}

void mem_settle(void)
{
	malloc_trim(0);
}

/* One arena for one thread; large blocks by mmap, so that freeing returns them to the system. */
void mem_tune(void)
{
	mallopt(M_ARENA_MAX, 1);
	mallopt(M_TRIM_THRESHOLD, 128 * 1024);
	mallopt(M_MMAP_THRESHOLD, 64 * 1024);
}
