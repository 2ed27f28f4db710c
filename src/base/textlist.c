/* SPDX-License-Identifier: Apache-2.0 */
#include "base/textlist.h"

#include <stdlib.h>
#include <string.h>

#include "base/mem.h"

void textlist_add(char ***list, size_t *count, const char *text)
{
	*list = mem_resize(*list, *count + 1, sizeof(**list));
	(*list)[(*count)++] = mem_dup(text);
}

void textlist_done(char ***list, size_t *count)
{
	while (*count > 0)
		free((*list)[--*count]);
	mem_free_ptr(list);
}

char **textlist_copy(char *const *list, size_t count)
{
	char **copy = count > 0 ? mem_array(count, sizeof(*copy)) : NULL;

	for (size_t i = 0; i < count; i++)
		copy[i] = mem_dup(list[i]);
	return copy;
}

bool textlist_equal(char *const *a, size_t a_count, char *const *b, size_t b_count)
{
	size_t i = 0;

	while (i < a_count && i < b_count && strcmp(a[i], b[i]) == 0)
		i++;
	return i == a_count && i == b_count;
}

bool textlist_has(char *const *list, size_t count, const char *text)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(list[i], text) == 0)
			return true;
	return false;
}
