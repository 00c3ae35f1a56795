/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/core/fd_table.h"

#include "base/base.h"

#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

/* A lease request has two open, and libibverbs at most four at a time while it lists devices. */
#define PLENTY	   8
#define MAX_OWNERS 16 /* each owner is a static object of a module */

uint32_t wv_few_fds[WV_FEW_FDS];
uint32_t *wv_more_fds;
uint32_t wv_n_fds WV_HOT;

static const struct wv_fd_owner *owners[MAX_OWNERS];
static rlim_t end; /* the limit on numbers when it was last looked at */

union word {
	uint32_t word;
	struct wv_fd_entry file;
};

/* Several threads may do this at the same time. */
static void make_table(void)
{
	uint32_t *made = calloc(WV_MAX_FD, sizeof(*made)), *none = NULL;

	if (!__atomic_compare_exchange_n(&wv_more_fds, &none, made, false, __ATOMIC_ACQ_REL,
					 __ATOMIC_RELAXED))
		free(made);
}

/* The word of @fd, for which the table is made if need be. */
static uint32_t *word_to_track(int fd)
{
	if (fd >= WV_FEW_FDS && fd < WV_MAX_FD && !__atomic_load_n(&wv_more_fds, __ATOMIC_RELAXED))
		make_table();
	return wv_fd_word(fd);
}

bool wv_fd_can_be_tracked(int fd)
{
	return word_to_track(fd);
}

bool wv_fd_track(int fd, struct wv_fd_entry file)
{
	union word u = {.file = file};
	uint32_t *word = word_to_track(fd);

	if (!word)
		return false;
	if (!__atomic_exchange_n(word, u.word, __ATOMIC_ACQ_REL))
		__atomic_fetch_add(&wv_n_fds, 1, __ATOMIC_RELAXED);
	return true;
}

struct wv_fd_entry wv_fd_untrack(int fd)
{
	union word u = {.word = 0};
	uint32_t *word = wv_fd_word(fd);

	if (!word)
		return u.file;
	u.word = __atomic_exchange_n(word, 0, __ATOMIC_ACQ_REL);
	if (u.word)
		__atomic_fetch_sub(&wv_n_fds, 1, __ATOMIC_RELAXED);
	return u.file;
}

/* The index of @owner; adds it if it is new. */
static uint8_t number_of(const struct wv_fd_owner *owner)
{
	uint8_t i = 0;

	while (i < MAX_OWNERS - 1 && owners[i] && owners[i] != owner)
		i++;
	owners[i] = owner;
	return i;
}

bool wv_fd_hide(int fd, const struct wv_fd_owner *owner)
{
	static uint16_t n;
	struct wv_fd_entry file = {.kind = WV_FD_PRIVATE, .slot = number_of(owner), .context = ++n};

	return wv_fd_track(fd, file);
}

const struct wv_fd_owner *wv_fd_owner(struct wv_fd_entry file)
{
	return owners[file.slot];
}

void wv_fd_close_private(int *fd)
{
	if (*fd < 0)
		return;
	wv_fd_untrack(*fd);
	close(*fd);
	*fd = -1;
}

bool wv_fds_are_plenty(void)
{
	struct pollfd fds[PLENTY];
	struct rlimit limit;

	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur < PLENTY)
		return false;
	end = limit.rlim_cur < INT_MAX ? limit.rlim_cur : INT_MAX;
	for (int i = 0; i < PLENTY; i++)
		fds[i] = (struct pollfd){.fd = (int)end - 1 - i};
	poll(fds, PLENTY, 0); /* tells of all numbers at once which are not open */
	for (int i = 0; i < PLENTY; i++)
		if (fds[i].revents != POLLNVAL)
			return false;
	return true;
}

bool wv_fd_is_far_from_limit(int fd)
{
	return (rlim_t)fd + PLENTY < end;
}
