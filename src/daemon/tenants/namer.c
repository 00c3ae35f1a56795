/* SPDX-License-Identifier: BSD-2-Clause */
#include "daemon/tenants/namer.h"

#include "base/base.h"
#include "daemon/loop/loop.h"
#include "daemon/tenants/container.h"
#include "daemon/tenants/share.h"

struct wv_newcomer {
	struct wv_work work; /* first */
	STAILQ_ENTRY(wv_newcomer) link;
	struct wv_newcomers *those;
	int fd; /* the connection */
	uid_t uid;
	pid_t pid;
	uint64_t container; /* what the worker found */
};

/* Those of one user, of whom the worker has one at a time: so nobody waits for all of another's. */
struct wv_newcomers {
	LIST_ENTRY(wv_newcomers) link;
	struct wv_namer *namer;
	uid_t owner;
	STAILQ_HEAD(, wv_newcomer) waiting;
	unsigned int n; /* with the one that the worker has */
};

/* Runs in a worker. */
static void find_container(struct wv_work *work)
{
	struct wv_newcomer *one = (struct wv_newcomer *)work;

	one->container = wv_container_of(one->fd, one->pid);
}

static void leave(struct wv_newcomers *those)
{
	those->namer->n--;
	if (--those->n)
		return;
	LIST_REMOVE(those, link);
	free(those);
}

/* Names @one, or closes its connection if there is no namer any more. */
static void settle(struct wv_namer *n, struct wv_newcomer *one)
{
	if (n->line)
		n->named(n->arg, one->fd, one->uid, one->container);
	else
		close(one->fd);
	free(one);
}

static struct wv_newcomer *take(struct wv_newcomers *those)
{
	struct wv_newcomer *one = STAILQ_FIRST(&those->waiting);

	if (one)
		STAILQ_REMOVE_HEAD(&those->waiting, link);
	return one;
}

static void drop_waiting(struct wv_newcomers *those)
{
	struct wv_newcomer *one;

	while ((one = take(those))) {
		settle(those->namer, one);
		leave(those);
	}
}

static void found(struct wv_work *work)
{
	struct wv_newcomer *one = (struct wv_newcomer *)work, *next;
	struct wv_newcomers *those = one->those;
	struct wv_namer *n = those->namer;

	if (!n->line)
		drop_waiting(those);
	next = take(those);
	if (next)
		wv_line_give(n->line, &next->work);
	settle(n, one);
	leave(those);
}

int wv_namer_start(struct wv_namer *n)
{
	const struct wv_line_options options = {
	    .own = 1,
	    .most = 1,
	    .priority = WV_PRIORITY_CLIENTS,
	    .settled = n->settled,
	    .arg = n->arg,
	};

	LIST_INIT(&n->all);
	return wv_line_open(n->workers, &options, &n->line);
}

void wv_namer_stop(struct wv_namer *n)
{
	wv_line_close(&n->line, INT64_MAX);
}

static struct wv_newcomers *find(const struct wv_namer *n, uid_t owner)
{
	struct wv_newcomers *those;

	LIST_FOREACH (those, &n->all, link)
		if (those->owner == owner)
			return those;
	return NULL;
}

/* Those of @owner, if one more may join them; NULL: none may, or memory is short. */
static struct wv_newcomers *room_for(struct wv_namer *n, uid_t owner)
{
	struct wv_newcomers *those = find(n, owner);
	unsigned int own = those ? those->n : 0;

	if (own >= wv_share_limit(WV_NAMER_MOST, n->n - own))
		return NULL;
	if (those)
		return those;
	those = malloc(sizeof(*those));
	if (!those)
		return NULL;
	*those = (struct wv_newcomers){.namer = n, .owner = owner};
	STAILQ_INIT(&those->waiting);
	LIST_INSERT_HEAD(&n->all, those, link);
	return those;
}

bool wv_namer_give(struct wv_namer *n, int fd, uid_t owner, const struct ucred *peer)
{
	struct wv_newcomer *one = malloc(sizeof(*one));
	struct wv_newcomers *those = one ? room_for(n, owner) : NULL;

	if (!those) {
		free(one);
		return false;
	}
	*one = (struct wv_newcomer){
	    .work = {.run = find_container, .done = found},
	    .those = those,
	    .fd = fd,
	    .uid = peer->uid,
	    .pid = peer->pid,
	};
	n->n++;
	if (those->n++)
		STAILQ_INSERT_TAIL(&those->waiting, one, link);
	else
		wv_line_give(n->line, &one->work);
	return true;
}
