/* SPDX-License-Identifier: Apache-2.0 */
#ifndef BASE_MEM_H
#define BASE_MEM_H

/*
 * Allocation that never fails: the process aborts when memory runs out. Callers check sizes from
 * outside against a cap first.
 */

#include <stdarg.h>
#include <stddef.h>

void *mem_alloc(size_t size);                           /* not zeroed; never NULL */
void *mem_zalloc(size_t size);                          /* zeroed; never NULL */
void *mem_array(size_t count, size_t size);             /* zeroed array; aborts when count * size overflows */
void *mem_resize(void *ptr, size_t count, size_t size); /* like reallocarray */
char *mem_dup(const char *text);                        /* NULL gives NULL */
char *mem_dupn(const char *bytes, size_t len);          /* len bytes and a terminating NUL */
char *mem_printf(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
char *mem_vprintf(const char *fmt, va_list ap) __attribute__((format(printf, 1, 0)));

#define MEM_COUNT(array) (sizeof(array) / sizeof((array)[0])) /* elements of an array, not of a pointer */

/* Overwrites a secret; not optimised away. ptr may be NULL. */
void mem_wipe(void *ptr, size_t len);

/* Wipes and frees a terminated string (may be NULL). */
void mem_free_secret(char *text);

/* Frees *ptr and sets it to NULL; `cleanup` attribute for locals: MEM_AUTO char *name = ... */
void mem_free_ptr(void *ptr_to_ptr);
#define MEM_AUTO __attribute__((cleanup(mem_free_ptr)))

/* Returns free memory to the system. mem_tune, called at the start, configures malloc for that. */
void mem_settle(void);
void mem_tune(void);

#endif
