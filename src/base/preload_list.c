/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/preload_list.h"

#include <stdlib.h>
#include <string.h>

#define SEPARATORS " :"

bool wv_preload_can_name(const char *library)
{
	return !strpbrk(library, SEPARATORS);
}

static char *append(char *end, const char *library, size_t bytes, const char *start)
{
	if (end != start)
		*end++ = ':';
	memcpy(end, library, bytes);
	return end + bytes;
}

char *wv_preload_list(const char *list, const char *library, bool wanted)
{
	size_t own = strlen(library), bytes;
	char *joined = malloc(own + 1 + (list ? strlen(list) : 0) + 1);
	char *end = joined;

	if (!joined)
		return NULL;
	if (wanted)
		end = append(end, library, own, joined);
	for (const char *at = list; at && *(at += strspn(at, SEPARATORS)); at += bytes) {
		bytes = strcspn(at, SEPARATORS);
		if (bytes != own || memcmp(at, library, own))
			end = append(end, at, bytes, joined);
	}
	*end = '\0';
	return joined;
}
