/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/arguments.h"

#include "base/base.h"
#include "template/proc_file.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/prctl.h>
#include <sys/auxv.h>
#include <sys/prctl.h>
#include <sys/random.h>

#define RANDOM_BYTES 16

/* Fields of /proc/PID/stat (proc_pid_stat(5)). */
enum {
	START_CODE = 26,
	END_CODE,
	START_STACK,
	START_DATA = 45,
	END_DATA,
	START_BRK,
	ARG_START,
	ARG_END,
	ENV_START,
	ENV_END,
};

/* What the kernel knows of this process already, which must be said again (prctl(2)). */
static struct prctl_mm_map map;

/* The same for all starts: it ends in AT_NULL. */
static ElfW(auxv_t) auxv[WV_START_AUXV];

static int read_auxv(void)
{
	wv_auto_fd file = open("/proc/self/auxv", O_RDONLY | O_CLOEXEC);
	ssize_t n = file < 0 ? -1 : read(file, auxv, sizeof(auxv));

	return n < 0 ? -errno : n == sizeof(auxv) ? -E2BIG : 0;
}

static int set_map(void)
{
	map.brk = (uint64_t)sbrk(0);
	return prctl(PR_SET_MM, PR_SET_MM_MAP, &map, sizeof(map), 0) ? -errno : 0;
}

int wv_arguments_prepare(void)
{
	wv_auto_fd self = open("/proc/self", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	char stat[WV_STAT_BYTES];
	int err = read_auxv();

	if (self < 0 || !wv_proc_read(self, "stat", stat, sizeof(stat)))
		return self < 0 ? -errno : -E2BIG;
	map = (struct prctl_mm_map){
	    .start_code = wv_stat_field(stat, START_CODE),
	    .end_code = wv_stat_field(stat, END_CODE),
	    .start_data = wv_stat_field(stat, START_DATA),
	    .end_data = wv_stat_field(stat, END_DATA),
	    .start_brk = wv_stat_field(stat, START_BRK),
	    .start_stack = wv_stat_field(stat, START_STACK),
	    .arg_start = wv_stat_field(stat, ARG_START),
	    .arg_end = wv_stat_field(stat, ARG_END),
	    .env_start = wv_stat_field(stat, ENV_START),
	    .env_end = wv_stat_field(stat, ENV_END),
	    .exe_fd = (uint32_t)-1,
	};
	return err ? err : set_map();
}

static uint64_t end_of(char *const *list, const char *begin)
{
	const char *end = begin;

	for (; *list; list++)
		end = *list + strlen(*list) + 1;
	return (uint64_t)end;
}

int wv_arguments_take(const struct wv_started *s)
{
	void *random = (void *)getauxval(AT_RANDOM);
	const char *slash;
	int err;

	map.arg_start = (uint64_t)s->argv[0];
	map.arg_end = map.env_start = end_of(s->argv, s->argv[0]);
	map.env_end = end_of(s->environ, (const char *)map.env_start);
	err = set_map();
	if (err)
		return err;
	if (random && getrandom(random, RANDOM_BYTES, 0) != RANDOM_BYTES)
		return -errno;
	memcpy(s->auxv, auxv, sizeof(auxv));
	environ = s->environ;
	slash = strrchr(s->argv[0], '/');
	program_invocation_name = s->argv[0];
	program_invocation_short_name = slash ? (char *)slash + 1 : s->argv[0];
	return 0;
}
