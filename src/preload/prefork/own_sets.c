/* SPDX-License-Identifier: BSD-2-Clause */
#include "preload/prefork/own_sets.h"

#include "base/base.h"
#include "preload/core/guard.h"
#include "preload/prefork/child.h"
#include "preload/prefork/device_list.h"
#include "preload/prefork/set_make.h"

#include <fcntl.h>
#include <stdlib.h>

/* The program is to find the numbers below free, as after execve(2). */
#define LOWEST_FD 64

static struct wv_prefork_shm *shm;

static const struct wv_fd_owner owner = {.closing = wv_child_lose_fd};

void wv_own_sets_share(void)
{
	wv_guard_begin();
	shm = wv_prefork_shm_new();
	if (shm)
		shm->is_for_own_sets = true;
	wv_guard_end();
}

bool wv_own_sets_are_shared(void)
{
	return shm;
}

/* Takes all free numbers below LOWEST_FD. Returns how many. */
static unsigned int hold_numbers(int held[static LOWEST_FD])
{
	unsigned int n = 0;
	int fd = open("/", O_PATH | O_CLOEXEC);

	for (; fd >= 0 && fd < LOWEST_FD; fd = fcntl(held[0], F_DUPFD_CLOEXEC, 0))
		held[n++] = fd;
	if (fd >= 0)
		close(fd);
	return n;
}

static void let_go_numbers(const int *held, unsigned int n)
{
	unsigned int first = 0;

	for (unsigned int i = 1; i <= n; i++) {
		if (i < n && held[i] == held[i - 1] + 1)
			continue;
		wv_close_numbers(held[first], held[i - 1]);
		first = i;
	}
}

/* Takes over @script. NULL: a verb has failed. */
static struct wv_set *make(struct wv_script *script)
{
	struct wv_set *set = wv_set_new(script, script->n);

	if (!set) {
		free(script);
		return NULL;
	}
	set->resources.owner = &owner;
	set->is_own = true;
	while (!wv_set_is_complete(set)) {
		if (!wv_set_make_next(set))
			continue;
		/* The next children will not try it for ever. */
		wv_scripts_judge(shm, &script->verbs[0], false);
		wv_set_end(set);
		free(script);
		return NULL;
	}
	return set;
}

static void make_all(struct wv_offers *offers)
{
	for (unsigned int i = 0; i < WV_PUBLISHED_SCRIPTS; i++) {
		struct wv_script *script = wv_scripts_copy(shm, i);
		struct wv_set *set = script ? make(script) : NULL;

		if (set)
			offers->all[offers->n++].set = set;
	}
}

/* The list of devices is the program's, if there is a set that it fits. */
static void make_list(struct wv_offers *offers)
{
	int held[LOWEST_FD];
	unsigned int n = hold_numbers(held);

	if (wv_device_list())
		make_all(offers);
	if (offers->n)
		wv_device_list_forked();
	else
		wv_device_list_forget();
	let_go_numbers(held, n);
}

/* Numbers are held here, too: what libibverbs opens while it lists stays open in all children. */
void wv_own_sets_list(void)
{
	int held[LOWEST_FD];
	unsigned int n;

	if (!wv_scripts_know(shm, NULL))
		return;
	n = hold_numbers(held);
	wv_device_list();
	let_go_numbers(held, n);
}

void wv_own_sets_make(void)
{
	struct wv_offers offers = {.n = 0};

	wv_child_lock();
	if (wv_scripts_know(shm, NULL))
		make_list(&offers);
	else
		wv_device_list_forget();
	wv_child_begin(&offers, shm);
	wv_child_unlock();
}
