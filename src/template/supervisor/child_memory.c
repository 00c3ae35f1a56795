/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/supervisor/child_memory.h"

#include "base/base.h"
#include "base/clock.h"
#include "template/proc_file.h"

#include <fcntl.h>
#include <inttypes.h>
#include <stdio.h>

#define SETTLE_MS     50 /* a child that sleeps has written by then what it writes before a start */
#define PAUSE_MS      1000
#define LOOKS_A_TIMES 100 /* a look may take as long as the kernel needs for all pages */

/* In KB; 0 if it is not known. */
static uint64_t private_memory(pid_t pid)
{
	char path[64], line[128];
	uint64_t kb, sum = 0;
	wv_auto_file rollup = NULL;

	snprintf(path, sizeof(path), "/proc/%d/smaps_rollup", pid);
	rollup = fopen(path, "re");
	while (rollup && fgets(line, sizeof(line), rollup))
		if (sscanf(line, "Private_Clean: %" SCNu64 " kB", &kb) == 1 ||
		    sscanf(line, "Private_Dirty: %" SCNu64 " kB", &kb) == 1)
			sum += kb;
	return sum;
}

/*
 * On a busy machine, one that runs may be far from that, or is a start of which nobody has heard;
 * one that has ended has no memory at all.
 */
static bool is_asleep(pid_t pid)
{
	char path[64], stat[WV_STAT_BYTES];
	const char *state;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	state = wv_proc_read(AT_FDCWD, path, stat, sizeof(stat)) ? strrchr(stat, ')') : NULL;
	return state && !strncmp(state, ") S", 3);
}

static void look(struct wv_child_memory *m, pid_t pid)
{
	uint64_t begin = wv_clock_ms(), kb = private_memory(pid), end = wv_clock_ms();
	uint64_t pause = (end - begin) * LOOKS_A_TIMES;

	m->next_ms = end + (pause > PAUSE_MS ? pause : PAUSE_MS);
	if (kb)
		m->bytes = kb << 10;
	else if (!m->bytes && is_asleep(pid))
		m->bytes = 1; /* this kernel does not say */
}

uint32_t wv_child_memory_most(struct wv_child_memory *m, const struct wv_children *c,
			      uint64_t most_bytes, uint32_t most)
{
	uint64_t now_ms = wv_clock_ms(), fit;

	if (c->n && now_ms >= m->next_ms && now_ms - c->waiting[0].since_ms >= SETTLE_MS &&
	    is_asleep(c->waiting[0].pid))
		look(m, c->waiting[0].pid);
	fit = m->bytes ? most_bytes / m->bytes : 1;
	if (!fit)
		return 1;
	return fit < most ? (uint32_t)fit : most;
}
