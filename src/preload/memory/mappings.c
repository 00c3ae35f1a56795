/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/memory/mappings.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* False: the line does not describe a mapping in the range that @m has on entry. */
static bool parse(const char *line, struct wv_mapping *m)
{
	uintptr_t start, end, here = (uintptr_t)&m;
	char mode[5];

	if (sscanf(line, "%" SCNxPTR "-%" SCNxPTR " %4s %*x %*x:%*x %" SCNu64, &start, &end, mode,
		   &m->inode) != 4 ||
	    end <= m->start || start >= m->end)
		return false;
	m->is_stack = strstr(line, "[stack") || (here >= start && here < end);
	m->start = start > m->start ? start : m->start;
	m->end = end < m->end ? end : m->end;
	m->is_writable = mode[1] == 'w';
	m->is_shared = mode[3] == 's';
	return true;
}

static bool append(struct wv_mapping **all, size_t n, struct wv_mapping m)
{
	struct wv_mapping *more = realloc(*all, (n + 1) * sizeof(m));

	if (!more)
		return false;
	*all = more;
	more[n] = m;
	return true;
}

size_t wv_mappings_read(uintptr_t start, uintptr_t end, struct wv_mapping **mappings)
{
	FILE *file = fopen("/proc/self/maps", "re");
	char *line = NULL;
	size_t n = 0, room = 0;

	*mappings = NULL;
	while (file && getline(&line, &room, file) > 0) {
		struct wv_mapping m = {.start = start, .end = end};

		if (parse(line, &m) && append(mappings, n, m))
			n++;
	}
	free(line);
	if (file)
		fclose(file);
	return n;
}
