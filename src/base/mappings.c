/* SPDX-License-Identifier: BSD-2-Clause */
#include "base/mappings.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Flags of a mapping (proc_pid_smaps(5)) that a new one has, too. */
#define USUAL_FLAGS " rd wr sh mr mw me ms ac nr sd "

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
	m->is_shared = mode[3] == 's';
	m->prot = (mode[0] == 'r' ? PROT_READ : 0) | (mode[1] == 'w' ? PROT_WRITE : 0) |
		  (mode[2] == 'x' ? PROT_EXEC : 0);
	m->is_usual = true;
	return true;
}

static bool is_usual(const char *flags)
{
	char flag[8];
	int n;

	for (; sscanf(flags, "%3s%n", flag + 1, &n) == 1; flags += n) {
		flag[0] = ' ';
		strcat(flag, " ");
		if (!strstr(USUAL_FLAGS, flag))
			return false;
	}
	return true;
}

/* One of the lines that follow that of mapping @m. */
static void look_at(const char *line, struct wv_mapping *m)
{
	unsigned long number;

	if (!strncmp(line, "VmFlags:", 8)) {
		m->is_locked = strstr(line, " lo");
		m->is_left_out = strstr(line, " dc") && !strstr(line, " io");
	}
	if ((!strncmp(line, "VmFlags:", 8) && !is_usual(line + 8)) ||
	    (sscanf(line, "ProtectionKey: %lu", &number) == 1 && number))
		m->is_usual = false;
	if ((sscanf(line, "Anonymous: %lu", &number) == 1 ||
	     sscanf(line, "Swap: %lu", &number) == 1) &&
	    number)
		m->has_own_pages = true;
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
	FILE *file = fopen("/proc/self/smaps", "re");
	char *line = NULL;
	size_t n = 0, room = 0;
	bool is_wanted = false; /* the mapping that the lines are about */

	*mappings = NULL;
	while (file && getline(&line, &room, file) > 0) {
		struct wv_mapping m = {.start = start, .end = end};

		if (!isupper(line[0])) {
			is_wanted = parse(line, &m) && append(mappings, n, m);
			n += is_wanted;
		} else if (is_wanted) {
			look_at(line, &(*mappings)[n - 1]);
		}
	}
	free(line);
	if (file)
		fclose(file);
	return n;
}
