/* SPDX-License-Identifier: BSD-2-Clause */
#include "template/supervisor/children.h"

#include "base/clock.h"
#include "template/control.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>

#define MOST_UNASKED 8
#define FEWEST	     4	/* two wait while the next two are made */
#define OWN_FDS	     64 /* descriptors for all but starts */

uint32_t wv_children_target(uint32_t wanted, uint32_t most, uint32_t n_starts)
{
	uint32_t target = wanted < FEWEST ? FEWEST : wanted, used = n_starts + OWN_FDS;
	struct rlimit limit;

	if (target > most)
		target = most;
	if (getrlimit(RLIMIT_NOFILE, &limit) || limit.rlim_cur <= used)
		return 0;
	return limit.rlim_cur - used < target ? (uint32_t)(limit.rlim_cur - used) : target;
}

bool wv_children_suffice(const struct wv_children *c, uint32_t target)
{
	return c->n > target / 2;
}

void wv_children_order(struct wv_children *c, int control, uint32_t target)
{
	struct wv_control make = {.word = WV_CONTROL_MAKE};

	if (c->is_making || target <= c->n)
		return;
	c->n_missing = target - c->n;
	make.value = (int32_t)c->n_missing;
	c->is_making = send(control, &make, sizeof(make), MSG_NOSIGNAL | MSG_DONTWAIT) > 0;
}

void wv_children_add(struct wv_children *c, pid_t pid)
{
	c->n_missing -= c->n_missing > 0;
	if (c->n < WV_READY_MOST)
		c->waiting[c->n++] = (struct wv_waiting){pid, wv_clock_ms()};
}

void wv_children_are_made(struct wv_children *c)
{
	c->is_making = false;
}

static bool remove_one(struct wv_children *c, pid_t pid)
{
	struct wv_waiting *at = c->waiting, *end = at + c->n;

	while (at < end && at->pid != pid)
		at++;
	if (at == end)
		return false;
	memmove(at, at + 1, (size_t)(end - at - 1) * sizeof(*at));
	c->n--;
	return true;
}

static bool is_child(pid_t pid)
{
	siginfo_t end;

	return !waitid(P_PID, (id_t)pid, &end, WEXITED | WNOHANG | WNOWAIT);
}

bool wv_children_start(struct wv_children *c, pid_t pid)
{
	if (!remove_one(c, pid))
		return is_child(pid); /* who made it was killed before it could tell */
	c->n_unasked = 0;
	return true;
}

bool wv_children_end(struct wv_children *c, pid_t pid, int status)
{
	bool was_asked = WIFEXITED(status) && WEXITSTATUS(status) == WV_CHILD_FAILED;

	return remove_one(c, pid) && !was_asked && ++c->n_unasked == MOST_UNASKED;
}
