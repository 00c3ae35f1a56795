/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/descriptors.h"

#include "base/base.h"
#include "base/file_limit.h"
#include "template/numbers.h"
#include "template/ready.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/resource.h>

/* Of a child besides those that came with the start, with room for what libc opens. */
#define OWN_MOST 32

static int move_up(int *fd, int lowest)
{
	int moved = fcntl(*fd, F_DUPFD_CLOEXEC, lowest);

	if (moved < 0)
		return errno == EINVAL ? -EMFILE : -errno; /* fcntl(2): beyond the limit */
	*fd = moved;
	return 0;
}

/* Files wait above the client's numbers until all have left those. */
static rlim_t above(const struct wv_started *s)
{
	return s->n_fds ? (rlim_t)s->to[s->n_fds - 1] + 1 : 0;
}

bool wv_descriptors_fit(const struct wv_started *s)
{
	rlim_t needed = above(s) + s->n_fds + WV_START_OWN + OWN_MOST;
	struct rlimit limit;

	return !getrlimit(RLIMIT_NOFILE, &limit) && needed <= limit.rlim_max;
}

int wv_descriptors_take(const struct wv_started *s, int *const *kept, unsigned int n_kept)
{
	int from[WV_START_FDS], stay[WV_START_FDS + WV_KEPT_MOST + WV_READY_FDS];
	unsigned int n = s->n_fds + n_kept;
	struct rlimit unused;
	int lowest = (int)above(s);		/* below the limit: wv_descriptors_fit() */
	int err = wv_file_limit_raise(&unused); /* the client's is set later */

	for (unsigned int i = 0; i < n_kept && !err; i++) {
		err = move_up(kept[i], lowest);
		stay[s->n_fds + i] = *kept[i];
	}
	for (unsigned int i = 0; i < s->n_fds && !err; i++) {
		from[i] = s->from[i];
		err = from[i] < lowest ? move_up(&from[i], lowest) : 0;
		stay[i] = s->to[i];
	}
	for (unsigned int i = 0; i < s->n_fds && !err; i++)
		err = dup2(from[i], s->to[i]) < 0 ? -errno : 0;
	if (err)
		return err;
	/* Those that have lost a number to the client's are gone: dup2() is libwarmverbs' own. */
	n += wv_ready_fds(stay + n, WV_READY_FDS);
	wv_numbers_sort(stay, n);
	return wv_numbers_close_others(stay, n);
}
